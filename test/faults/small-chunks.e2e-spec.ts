import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestAccount } from '../support/gateway.js';
import { type GatewayFromOutside, sharedGateway } from '../support/shared-gateway.js';

/** A thousand chunks of one byte each. */
const CHUNKS = '1\r\n \r\n'.repeat(1_000);
/** Far more than the buffers between the two hold: 30 MB. */
const ENDLESS = 5_000;

let gateway: GatewayFromOutside;
let account: TestAccount;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.account(0n);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** Sends that many thousand chunks, or as many as the gateway takes before it ends the connection. */
async function sent(thousands: number, [path, key, type, begin]: Target) {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: shim',
    `Authorization: Bearer ${await key()}`,
    `Content-Type: ${type}`,
    'Transfer-Encoding: chunked',
    '',
    begin === '' ? '' : `${begin.length.toString(16)}\r\n${begin}\r\n`,
  ];
  socket.write(head.join('\r\n'));
  let bytes = 0;
  for (let count = 0; count < thousands && !socket.destroyed; count++) {
    bytes += CHUNKS.length;
    const drained = new Promise((resolve) => socket.once('drain', resolve));
    if (!socket.write(CHUNKS)) await Promise.race([drained, closed]);
  }
  // The rest of a refused body is awaited for a second.
  await closed;
  return { answer, bytes };
}

const PART = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';

type Target = readonly [
  path: string,
  key: () => string | Promise<string>,
  type: string,
  begin: string,
];
const PATH = '/v1/audio/isolation';
const JSON_BODY: Target = [PATH, () => account.key, 'application/json', ''];
const FORM: Target = [
  PATH,
  async () => (await gateway.account()).key,
  'multipart/form-data; boundary=B',
  PART,
];
const NO_KEY: Target = [PATH, () => 'unknown', 'application/json', ''];

it.each([
  ['JSON body', JSON_BODY, 400, 'invalid_request'],
  ['form', FORM, 400, 'invalid_multipart'],
] as const)('a %s in more than 10,000 chunks of one byte is refused', async (...row) => {
  const [, target, status, code] = row;
  const { answer } = await sent(11, target);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toContain(`"code":"${code}"`);
});

it.each([
  ['JSON body', JSON_BODY],
  ['form', FORM],
  ['body without a key', NO_KEY],
] as const)('a %s in chunks of one byte is not read on', async (_what, target) => {
  const { bytes } = await sent(ENDLESS, target);
  expect(bytes).toBeLessThan(ENDLESS * CHUNKS.length);
});
