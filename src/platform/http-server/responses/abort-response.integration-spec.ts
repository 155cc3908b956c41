import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { PipeliningGuard } from '../connections/pipelining-guard.js';

const LIMITS = {
  maxWaiting: 5,
  maxWaitingCharacters: 10_000,
  checkMs: 20,
  maxSilentChecks: 5,
  maxIdleChecks: 500,
};
/** More bytes than any kernel buffers for a reader. */
const LARGE = Buffer.alloc(60_000_000);

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it.each([
  ['1.0', true],
  ['1.1', false],
])(
  'an answer over HTTP/%s whose reader takes nothing for long is cut by a reset: %s',
  async (version, isByReset) => {
    let isReset = false;
    let cut: Promise<unknown> | undefined;
    const turns = new PipeliningGuard(({ socket }, response) => {
      const reset = socket.resetAndDestroy.bind(socket);
      socket.resetAndDestroy = () => {
        isReset = true;
        return reset();
      };
      cut = once(response, 'close');
      response.end(LARGE);
    }, LIMITS);
    server = createServer(turns.take).listen(0, '127.0.0.1');
    turns.watch(server);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.pause().write(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`);
    await once(server, 'request');
    await cut;
    expect(isReset).toBe(isByReset);
    client.destroy();
  },
);
