import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ipPrefixOf, LOOPBACK_NETWORKS, limitConnectionsPerIp } from './connections-per-ip.js';

let server: Server;
let refused: string[];
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function listen(perAddress: number, proxies: readonly string[] = []): Promise<void> {
  refused = [];
  server = createServer((_request, response) => response.end('served'));
  limitConnectionsPerIp(server, {
    perAddress,
    proxies,
    onRefused: (address) => refused.push(address),
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

/** The socket after it was served or closed. */
async function opened(from = '127.0.0.1'): Promise<Socket & { isServed?: boolean }> {
  const { port } = server.address() as AddressInfo;
  const socket: Socket & { isServed?: boolean } = connect({
    port,
    host: '127.0.0.1',
    localAddress: from,
  });
  socket.on('error', () => undefined);
  socket.on('data', () => (socket.isServed = true));
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return socket;
}

describe('the connections of one address', () => {
  it('are refused beyond its share, and no other address feels it', async () => {
    await listen(2);
    const sockets = [await opened(), await opened(), await opened(), await opened('127.0.0.2')];
    expect(sockets.map(({ isServed = false }) => isServed)).toEqual([true, true, false, true]);
    expect(refused).toEqual(['127.0.0.1']);
  });

  it('allow new ones when they close', async () => {
    await listen(1);
    (await opened()).destroy();
    for (let tries = 0; tries < 100; tries++) {
      if ((await opened()).isServed === true) return;
    }
    throw new Error('no room');
  });

  it.each([
    ['of a proxy', ['127.0.0.1']],
    ['of a network of proxies', ['10.0.0.0/8', '127.0.0.0/16']],
    ['of this machine', LOOPBACK_NETWORKS],
  ])('%s are as many as there are clients behind it', async (_whose, proxies) => {
    await listen(1, proxies);
    const sockets = [await opened(), await opened(), await opened()];
    expect(sockets.every(({ isServed }) => isServed === true)).toBe(true);
  });

  it('have no limit under 0', async () => {
    await listen(0);
    expect([await opened(), await opened()].every(({ isServed }) => isServed === true)).toBe(true);
  });
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8:0:0:1:2:3:4', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
])('the address %s counts as %s', (address, network) => {
  expect(ipPrefixOf(address)).toBe(network);
});
