import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { handleClientErrors } from './client-error.js';
import { PipeliningGuard } from './pipelining-guard.js';

let server: Server;

beforeAll(async () => {
  const turns = new PipeliningGuard((request, response) => {
    if (request.url === '/slow') void answerSlowly(response);
    else if (request.url === '/body') request.resume().once('end', () => response.end());
    else response.end();
  });
  server = createServer(turns.take);
  handleClientErrors(server, turns);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});

/** Long after the invalid bytes behind the request have arrived. */
async function answerSlowly(response: ServerResponse): Promise<void> {
  await sleep(200);
  response.write('first ');
  await sleep(200);
  response.end('last');
}

async function answerTo(bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

describe('handleClientErrors', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a bad length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400],
    ['oversized headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ])('answers %s in the envelope and closes', async (_what, bytes, status) => {
    const [head = '', body = ''] = (await answerTo(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/Connection: close/);
    expect(JSON.parse(body)).toEqual({
      error: {
        message: expect.any(String),
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request',
      },
    });
  });

  it.each([0, 300])(
    'sends a response completely when garbage arrives after %d ms',
    async (waitMs) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      await sleep(waitMs);
      socket.write('garbage\r\n\r\n');
      socket.write('more garbage\r\n\r\n');
      await once(socket, 'close');
      const [head = '', ...rest] = Buffer.concat(chunks).toString().split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1.1 200 /);
      expect(rest.join('\n')).toBe('6\r\nfirst \r\n4\r\nlast\r\n0\n');
    },
  );

  it('answers the requests before garbage, and then closes', async () => {
    const get = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';
    const text = await answerTo(`${get.repeat(3)}garbage\r\n\r\n`);
    const answers = text.split('HTTP/1.1 ').slice(1);
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['200', '200', '200']);
    expect(answers.map((answer) => answer.includes('last'))).toEqual([true, true, true]);
    expect(answers.at(-1)).toMatch(/^Connection: close/im);
  });

  it('answers a body whose chunks are garbage', async () => {
    const head = 'POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await answerTo(`${head}3\r\nabc\r\nzz\r\n`)).toMatch(/^HTTP\/1.1 400 /);
  });
});
