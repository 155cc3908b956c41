import diagnosticsChannel from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { HELLO } from '../support/paid-endpoints.js';

const BODY = JSON.stringify(HELLO);
const MANY = Array.from({ length: 101 }, (_, index) => `X-${index}: 1`);
const PATIENCE_MS = 60_000;

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

function open(): Socket & { seen: string } {
  const { port, hostname } = new URL(gateway.url);
  const socket = Object.assign(connect(Number(port), hostname), { seen: '' });
  socket.setEncoding('latin1').on('data', (chunk: string) => (socket.seen += chunk));
  return socket.on('error', () => undefined);
}

const get = (...headers: readonly string[]) => getAt('/v1/models', ...headers);
const getAt = (target: string, ...headers: readonly string[]) =>
  [
    `GET ${target} HTTP/1.1`,
    ...headers,
    `Authorization: ${account.headers.authorization}`,
    '',
    '',
  ].join('\r\n');
const post = (authorization: string, ...headers: readonly string[]) =>
  [
    'POST /v1/audio/speech HTTP/1.1',
    'Host: shim',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY.length}`,
    ...headers,
    '',
    '',
  ].join('\r\n');

async function exchange(bytes: string): Promise<string> {
  const socket = open();
  socket.write(bytes);
  await once(socket, 'close');
  return socket.seen;
}

describe('a request', () => {
  it.each([
    ['without Host', 400, () => get('Accept: */*')],
    ['with two Host headers', 400, () => get('Host: shim', 'Host: other')],
    ['with two equal Host headers', 400, () => get('Host: shim', 'host: shim')],
    [
      'with two Authorization headers',
      400,
      () => get('Host: shim', 'authorization: Bearer sk-other'),
    ],
    ['with more than 100 headers', 431, () => get('Host: shim', ...MANY)],
    ['with a target that is no URL', 400, () => getAt('http://[::zz', 'Host: shim')],
    ['with a user in a broken target', 400, () => getAt('http://user:p@[x/metrics', 'Host: shim')],
    ['with a target that has no path', 400, () => getAt('mailto:a@b', 'Host: shim')],
    ['with an expectation of its own', 417, () => get('Host: shim', 'Expect: the-best')],
  ])(
    '%s is refused with %i in the envelope, and the connection closed',
    async (_what, status, bytes) => {
      const [head = '', body = ''] = (await exchange(bytes())).split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head).toMatch(/Connection: close/i);
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request' } });
    },
  );

  it('of HTTP/1.0 needs no Host', async () => {
    expect(await exchange('GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('that waits for leave to send its body is refused without a key before it may', async () => {
    const seen = await exchange(
      post('Bearer sk-unknown', 'Expect: 100-continue', 'Connection: close'),
    );
    expect(seen).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('that waits for leave to send its body gets it, and is served', async () => {
    const socket = open();
    socket.write(post(account.headers.authorization, 'Expect: 100-continue', 'Connection: close'));
    for (let waitedMs = 0; socket.seen === '' && waitedMs < PATIENCE_MS; waitedMs += 5) {
      await sleep(5);
    }
    expect(socket.seen).toMatch(/^HTTP\/1\.1 100 /);
    socket.write(BODY);
    await once(socket, 'close');
    expect(socket.seen).toMatch(/HTTP\/1\.1 200 /);
  });
});

it('the folder of the Swagger page serves only the page, which keeps tokens no longer than its tab', async () => {
  const get = async (path: string) => fetch(`${gateway.url}${path}`);
  for (const path of ['/package.json', '//package.json', '/README.md', '/index.js', '//index.html'])
    expect([path, (await get(`/docs${path}`)).status]).toEqual([path, 404]);
  const page = await (await get('/docs')).text();
  const files = [...page.matchAll(/(?:href|src)="\.(\/docs\/[^"]+)"/g)].map(([, path]) => path);
  expect(files.length).toBeGreaterThanOrEqual(6);
  for (const path of [...files, '/docs/'])
    expect([path, (await get(path ?? '')).status]).toEqual([path, 200]);
  const script = await (await get('/docs/swagger-ui-init.js')).text();
  expect(script).not.toMatch(/"?persistAuthorization"?: true|localStorage/);
  expect(script).toContain('sessionStorage');
});

it('requests sent ahead by clients that leave count no longer as in flight', async () => {
  // A call that never ended in the count would make the stop outlast this test.
  const other = await startTestGateway({ DRAIN_TIMEOUT_MS: '600000' });
  const { headers } = await other.account();
  const body = JSON.stringify({ ...HELLO, input: '[[sandbox:delay=300]]Hello' });
  const request = post(headers.authorization).replace(
    /Content-Length: \d+/,
    `Content-Length: ${body.length}`,
  );
  const sockets = Array.from({ length: 10 }, () => {
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
    socket.on('error', () => undefined).write((request + body).repeat(5));
    return socket;
  });
  await sleep(200);
  for (const socket of sockets) socket.destroy();
  await other.stop();
});

it.each([
  ['plain', 'GET / HTTP/1.1\r\n\r\n'],
  ['with an expectation', 'GET / HTTP/1.1\r\nExpect:x\r\n\r\n'],
])('thousands of heads in one packet, %s, become few requests', async (_name, head) => {
  let requests = 0;
  const count = () => requests++;
  diagnosticsChannel.subscribe('http.server.request.start', count);
  const socket = open();
  const closed = once(socket, 'close');
  socket.resume().write(head.repeat(2_000));
  await closed;
  diagnosticsChannel.unsubscribe('http.server.request.start', count);
  expect(requests).toBeGreaterThan(0);
  expect(requests).toBeLessThan(50);
});

it('clients that send ahead and read nothing cost little memory', async () => {
  const asset = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: shim\r\n\r\n';
  const script = 'GET /docs/swagger-ui-init.js HTTP/1.1\r\nHost: shim\r\n\r\n';
  const before = process.memoryUsage().rss;
  const sockets = [asset, script, asset, script].map((request) => {
    const socket = open();
    socket.pause().write(request.repeat(1_300));
    return socket;
  });
  let peak = 0;
  for (let look = 0; look < 20; look++) {
    await sleep(100);
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  for (const socket of sockets) socket.destroy();
  expect(peak - before).toBeLessThan(300_000_000);
});
