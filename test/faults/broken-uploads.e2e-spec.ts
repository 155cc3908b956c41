import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';

const PATIENCE_MS = 60_000;
const ABRUPT_LEAVES = 60;
/** Far more than the buffers of one connection hold. */
const FILE_BYTES = 600_000;

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

const uploads = () => readdirSync(join(gateway.config.dataDir, 'uploads', String(process.pid)));

async function untilEmpty(): Promise<void> {
  for (let waitedMs = 0; uploads().length > 0 && waitedMs < PATIENCE_MS; waitedMs += 20) {
    await sleep(20);
  }
  expect(uploads()).toEqual([]);
}

function open() {
  const { port, hostname } = new URL(gateway.url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

function head(contentType: string, bytes: number, path = '/v1/audio/isolation'): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: shim',
    `Authorization: ${account.headers.authorization}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${bytes}`,
    '\r\n',
  ].join('\r\n');
}

/** The answer until the gateway closes the connection, or until the client has read it and leaves. */
async function answerTo(
  contentType: string,
  body: string,
  bytes = body.length,
  { path = '/v1/audio/isolation', pauseMs = 0 } = {},
): Promise<string> {
  const socket = open();
  let answer = '';
  const told = new Promise<void>((resolve) => {
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answer += chunk;
      if (answer.endsWith('}')) resolve();
    });
    socket.once('close', () => {
      resolve();
    });
  });
  socket.write(head(contentType, bytes, path), 'latin1');
  await sleep(pauseMs);
  socket.write(body, 'latin1');
  await told;
  socket.destroy();
  return answer;
}

const part = (disposition: string, content: string) =>
  `--B\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
/** Every endpoint that takes a form. */
const FORM_PATHS = [
  '/v1/audio/transcriptions',
  '/v1/audio/alignment',
  '/v1/audio/voice-changer',
  '/v1/audio/isolation',
  '/v1/videos',
  '/v1/images/edits',
];
const MODEL = part('name="model"', 'aud-voice-isolator');
const FILE = part('name="file"; filename="a.wav"', 'x'.repeat(FILE_BYTES));

describe('an upload that is no form', () => {
  it.each([
    'multipart/form-data;',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="abc',
    'multipart/form-data; boundary=a b',
    'multipart/form-data;;;boundary=B',
    'multipart/form-data; é',
    'multipart/form-data; boundary=é',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
  ])('of the type %s is refused, and nothing else happens when its client leaves', async (type) => {
    const answer = await answerTo(type, 'abc', 9);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/"code":"invalid_multipart"/);
    // The gateway stops reading the body within a second; that must cause no unhandled error.
    await sleep(1_200);
  });

  it.each([
    ['parts after its end', `--B--\r\n${MODEL}${FILE}`],
    ['a file without a final boundary', MODEL + FILE],
    ['only its end', '--B--\r\n'],
    ['nothing in it', 'abc'],
  ])('with %s is answered with 400 at once', async (_what, body) => {
    const answer = await answerTo('multipart/form-data; boundary=B', body);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/"code":"invalid_multipart"/);
    await untilEmpty();
  });
});

describe.each(FORM_PATHS)('a form at %s', (path) => {
  it.each([
    ['no name', 'form-data', 0],
    ['an empty name', 'form-data; name=""', 0],
    ['no name, after the head of its request', 'form-data', 50],
    ['an empty name and a file name', 'form-data; name=""; filename="a.wav"', 0],
    ['no name and a file name', 'form-data; filename="a.wav"', 0],
  ])('is refused with a part of invalid UTF-8 with %s', async (_what, disposition, pauseMs) => {
    const body = `--B\r\nContent-Disposition: ${disposition}\r\n\r\n\xff\r\n--B--\r\n`;
    const type = 'multipart/form-data; boundary=B';
    const answer = await answerTo(type, body, body.length, { path, pauseMs });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/"code":"invalid_multipart"/);
    await untilEmpty();
  });
});

it('an upload whose client disconnects just after its last byte leaves no file', async () => {
  const body = `${MODEL}${FILE}--B--\r\n`;
  for (let round = 0; round < ABRUPT_LEAVES; round++) {
    const socket = open();
    socket.write(head('multipart/form-data; boundary=B', body.length) + body, () => {
      if (round % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    });
    await once(socket, 'close');
  }
  await untilEmpty();
});
