import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { EgressRules } from './egress-rules.js';
import { AddressRefusedError, SsrfSafeDialer } from './ssrf-safe-dialer.js';

const limits = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000 };
const { signal } = new AbortController();

describe('SsrfSafeDialer', () => {
  let server: Server;
  let port: number;
  let requests: { request: IncomingMessage; body: string }[];

  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      void text(request).then((body) => {
        requests.push({ request, body });
        response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('moved');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    server.close();
    await once(server, 'close');
  });

  it('posts bytes to an opened private address and does not follow its redirect (HOOK-21)', async () => {
    const dialer = new SsrfSafeDialer({ rules: EgressRules.parse(`127.0.0.1:${port}`) });
    const answer = await dialer.request(new URL(`http://127.0.0.1:${port}/hook?a=1`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"a":"ü"}'),
      signal,
      limits,
    });
    expect([answer.status, await text(answer.body)]).toEqual([302, 'moved']);
    answer.close();
    expect(requests).toHaveLength(1);
    const { request, body } = requests[0]!;
    expect([request.method, request.url, body]).toEqual(['POST', '/hook?a=1', '{"a":"ü"}']);
    expect(request.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      connection: 'close',
      'content-length': '10',
      'user-agent': 'shim-gateway',
    });
  });

  it.each([65_536, 1_000_000])(
    'delivers %i bytes to a slow consumer after the server has closed the connection',
    async (size) => {
      const head = `HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`;
      const closing = createTcpServer((socket) => {
        socket.once('data', () => {
          socket.write(head);
          socket.end(Buffer.alloc(size));
        });
      }).listen(0, '127.0.0.1');
      await once(closing, 'listening');
      const address = `127.0.0.1:${(closing.address() as AddressInfo).port}`;
      const dialer = new SsrfSafeDialer({ rules: EgressRules.parse(address) });
      const url = new URL(`http://${address}/`);
      const idleMs = 100;
      const answer = await dialer.request(url, {
        method: 'GET',
        signal,
        limits: { ...limits, idleMs },
      });
      await sleep(3 * idleMs);
      expect((await buffer(answer.body)).length).toBe(size);
      answer.close();
      closing.close();
    },
  );

  it('resolves a name that the operator permits by the system resolver', async () => {
    const dialer = new SsrfSafeDialer({ rules: EgressRules.parse(`localhost:${port}`) });
    const url = new URL(`http://localhost:${port}/`);
    const answer = await dialer.request(url, { method: 'GET', signal, limits });
    answer.close();
    expect(requests[0]?.request.headers.host).toBe(`localhost:${port}`);
  });

  it('tries the next address when the first one does not listen', async () => {
    const dialer = new SsrfSafeDialer({
      rules: EgressRules.parse('two.test'),
      resolve: () => Promise.resolve(['::1', '127.0.0.1']),
    });
    const url = new URL(`http://two.test:${port}/`);
    const answer = await dialer.request(url, { method: 'GET', signal, limits });
    answer.close();
    expect(requests).toHaveLength(1);
  });

  it('opens no connection to a private address that no rule permits (HOOK-32)', async () => {
    const dialer = new SsrfSafeDialer({
      rules: EgressRules.none,
      resolve: () => Promise.resolve(['127.0.0.1']),
    });
    for (const host of ['127.0.0.1', 'hook.test']) {
      const url = new URL(`http://${host}:${port}/`);
      await expect(
        dialer.request(url, { method: 'POST', body: 'x', signal, limits }),
      ).rejects.toBeInstanceOf(AddressRefusedError);
    }
    expect(requests).toEqual([]);
  });

  it('distinguishes an address that is not allowed from a name without an address', async () => {
    const answers = [['10.0.0.1'], [], ['93.184.216.34']];
    const dialer = new SsrfSafeDialer({
      rules: EgressRules.none,
      resolve: () => Promise.resolve(answers.shift() ?? []),
    });
    const url = new URL('https://hook.test/');
    await expect(dialer.addressesOf(url, signal)).rejects.toBeInstanceOf(AddressRefusedError);
    await expect(dialer.addressesOf(url, signal)).rejects.not.toBeInstanceOf(AddressRefusedError);
    await expect(dialer.addressesOf(url, signal)).resolves.toEqual(['93.184.216.34']);
  });
});
