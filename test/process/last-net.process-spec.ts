import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { fatalLinesOf } from '../support/fatal-lines.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** So late that it does not come with the head. */
const BODY_AFTER_MS = 100;

/** Loaded into the gateway. It throws an error that nothing handles, once per signal. */
const STRAY = `import { PassThrough } from 'node:stream';
process.on('SIGUSR2', () => {
  const stream = new PassThrough();
  stream.destroy(new Error('stray'));
});`;

/** Loaded into the gateway. A listener of the request's body throws: before the answer, or once it has begun. */
const STRAY_LISTENER = `import { subscribe } from 'node:diagnostics_channel';
subscribe('http.server.request.start', ({ request, response }) => {
  const stray = request.headers['x-stray'];
  if (stray === undefined) return;
  request.on('data', () => {
    if (stray === 'late') response.writeHead(200, { 'content-length': 9 }).write('begun');
    throw new TypeError('stray');
  });
});`;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** A gateway with this module, whose log may have fatal lines. */
function startedWith(module: string): Promise<GatewayProgram> {
  const file = join(mkdtempSync(join(tmpdir(), 'shim-stray-')), 'stray.mjs');
  writeFileSync(file, module);
  const settings = {
    DATABASE_URL: database.url,
    NODE_OPTIONS: `--import ${pathToFileURL(file).href}`,
  };
  return startGatewayProgram(settings, { mayLogFatal: true });
}

/** The answer to a request whose body comes after its head, as bytes, until the gateway closes the connection. */
async function answerTo(url: string, key: string, stray: 'early' | 'late'): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.write(
    [
      'POST /v1/chat/completions HTTP/1.1',
      'Host: shim',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `X-Stray: ${stray}`,
      'Content-Length: 5',
      '\r\n',
    ].join('\r\n'),
  );
  await sleep(BODY_AFTER_MS);
  socket.write('12345');
  await once(socket, 'close');
  return text;
}

it(
  'errors thrown by listeners of requests end these alone, and never the process, however many they are',
  async () => {
    const gateway = await startedWith(STRAY_LISTENER);
    const { key } = await gateway.account();
    for (let count = 0; count < 12; count += 1) {
      const early = await answerTo(gateway.url, key, 'early');
      expect(early).toMatch(/^HTTP\/1\.1 500 /);
      expect(early).toMatch(/"code":"internal_error"/);
      const late = await answerTo(gateway.url, key, 'late');
      expect(late).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nbegun$/s);
    }
    expect(await statusOf(`${gateway.url}/health/ready`)).toBe(200);
    expect(gateway.stdout()).not.toMatch(/the same error occurred too often/);
    expect(fatalLinesOf(gateway.stdout())).toHaveLength(24);
    expect(gateway.stdout().match(/"execution_id":"exec_[0-9a-f]{32}","cause"/g)).toHaveLength(24);
    await gateway.end('SIGTERM');
  },
  PROCESS_TEST_TIMEOUT_MS,
);

it(
  'an error without a handler is logged and the process serves on; at the tenth in a minute it drains and ends',
  async () => {
    const gateway = await startedWith(STRAY);
    const caught = () => gateway.stdout().split('uncaught exception').length - 1;
    for (let count = 1; count <= 9; count++) {
      process.kill(gateway.pid, 'SIGUSR2');
      await until(() => caught() === count);
    }
    expect(await statusOf(`${gateway.url}/health/ready`)).toBe(200);
    process.kill(gateway.pid, 'SIGUSR2');
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.stdout()).toMatch(/the same error occurred too often/);
  },
  PROCESS_TEST_TIMEOUT_MS,
);
