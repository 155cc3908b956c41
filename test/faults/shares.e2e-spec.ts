import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';

const PATIENCE_MS = 60_000;
const MIB = 1_048_576;
const CHAT = '/v1/chat/completions';
const VIDEOS = '/v1/videos';
const JSON_TYPE = 'Content-Type: application/json';
const FORM_TYPE = 'Content-Type: multipart/form-data; boundary=B';
const WAITS = 'Expect: 100-continue';
const FILE_HEAD = '--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
const TEXT_HEAD = '--B\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n';

let gateway: TestGateway;
let rich: TestAccount;
let other: TestAccount;
let poor: TestAccount;
const open = new Set<Socket>();

beforeAll(async () => {
  gateway = await startTestGateway({
    BODY_MEMORY_MAX_BYTES: String(64 * MIB),
    MAX_UPLOADS_PER_ACCOUNT: '2',
    SPOOL_MAX_BYTES: String(64 * MIB),
  });
  [rich, other, poor] = await Promise.all([
    gateway.account(),
    gateway.account(),
    gateway.account(0n),
  ]);
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  for (const name of ['body_memory_bytes', 'spool_bytes', 'spool_transfers']) {
    await until(async () => (await gauge(name)) === 0);
  }
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

async function until(fact: () => Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; !(await fact()) && waitedMs < PATIENCE_MS; waitedMs += 20) await sleep(20);
  expect(await fact()).toBe(true);
}

async function gauge(name: string): Promise<number> {
  const text = await gateway.app.get(Metrics).registry.getSingleMetricAsString(`gateway_${name}`);
  return Number(/^gateway_\w+ (\d+)$/m.exec(text)?.[1]);
}

type Client = Socket & { seen: string };

/** Begins a request and sends no more than this. */
function begin(path: string, { headers }: TestAccount, lines: string[], body: string): Client {
  const { port, hostname } = new URL(gateway.url);
  const socket = Object.assign(connect(Number(port), hostname), { seen: '' });
  socket.setEncoding('latin1').on('data', (chunk: string) => (socket.seen += chunk));
  socket.on('error', () => undefined);
  open.add(socket);
  const head = [`POST ${path} HTTP/1.1`, 'Host: shim', `Authorization: ${headers.authorization}`];
  socket.write(`${[...head, ...lines].join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

const chat = (account: TestAccount, bytes: number, declared = 20 * MIB) =>
  begin(CHAT, account, [JSON_TYPE, `Content-Length: ${declared}`], `{"a":"${'x'.repeat(bytes)}`);
/** A form that declares one byte more than it sends. */
const upload = (account: TestAccount, bytes = 1_000) =>
  begin(
    '/v1/audio/isolation',
    account,
    [FORM_TYPE, `Content-Length: ${bytes + 1}`],
    FILE_HEAD.padEnd(bytes, 'x'),
  );
/** Clients that send their bodies only when the gateway asks for them. */
const waitingChat = (account: TestAccount, declared = 20 * MIB) =>
  begin(CHAT, account, [JSON_TYPE, `Content-Length: ${declared}`, WAITS], '');
const waitingUpload = (account: TestAccount, declared = 1_000) =>
  begin('/v1/audio/isolation', account, [FORM_TYPE, `Content-Length: ${declared}`, WAITS], '');

/** A form of texts that is not complete. */
const video = (account: TestAccount, bytes: number) =>
  begin(VIDEOS, account, [FORM_TYPE, `Content-Length: ${bytes + 1}`], TEXT_HEAD.padEnd(bytes, 'x'));
const waitingVideo = (account: TestAccount, declared = 1_000) =>
  begin(VIDEOS, account, [FORM_TYPE, `Content-Length: ${declared}`, WAITS], '');

/** A body that comes in one chunk and does not end. */
function inChunks(path: string, account: TestAccount, lines: string[], text: string): Client {
  const body = `${text.length.toString(16)}\r\n${text}\r\n`;
  return begin(path, account, [...lines, 'Transfer-Encoding: chunked'], body);
}
const chunkedUpload = (account: TestAccount, bytes: number) =>
  inChunks('/v1/audio/isolation', account, [FORM_TYPE], FILE_HEAD.padEnd(bytes, 'x'));

/** The gateway answers the refusal at once; it does not ask for the body. */
async function refusalOf(client: Client, status: number, code: string): Promise<void> {
  while (!client.seen.includes('}}') && !client.seen.includes('100 Continue')) {
    await once(client, 'data');
  }
  expect(client.seen).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(client.seen).toContain(`"code":"${code}"`);
}

describe('an account without funds', () => {
  it('is refused with 402 for a body over 1 MB that it declares, before the body is asked for (G-101)', async () => {
    await refusalOf(waitingChat(poor, MIB + 1), 402, 'insufficient_user_quota');
  });

  it.each([
    ['JSON', CHAT, [JSON_TYPE], '{"a":"'],
    ['JSON of which nobody may send more', VIDEOS, [JSON_TYPE], '{"a":"'],
    ['a form that may be a replay', VIDEOS, [FORM_TYPE, 'Idempotency-Key: a'], TEXT_HEAD],
  ])('is refused with 402 for chunks over 1 MB: %s (G-101)', async (_, path, lines, head) => {
    const send = (by: TestAccount) => inChunks(path, by, lines, head.padEnd(MIB + 1, 'x'));
    await refusalOf(send(poor), 402, 'insufficient_user_quota');
    if (path !== CHAT) await refusalOf(send(rich), 413, 'request_too_large');
  });

  it('is refused with 402 for any form, before the form is asked for (G-101)', async () => {
    await refusalOf(waitingUpload(poor), 402, 'insufficient_funds');
    await refusalOf(waitingVideo(poor), 402, 'insufficient_user_quota');
  });

  it('gets the errors of a small body first (G-101)', async () => {
    const client = begin(CHAT, poor, [JSON_TYPE, 'Content-Length: 3'], '{a}');
    await refusalOf(client, 400, 'invalid_request');
  });

  it('may send large bodies from the moment that it is credited', async () => {
    const { accountId, ...account } = await gateway.account(0n);
    await refusalOf(waitingUpload({ accountId, ...account }), 402, 'insufficient_funds');
    await gateway.app.get(LedgerService).credit({
      accountId,
      amountMicroUsd: 5_000_000n,
      idempotencyKey: 'later',
      reference: null,
    });
    const client = upload({ accountId, ...account });
    await until(async () => (await gauge('spool_transfers')) === 1);
    expect(client.seen).toBe('');
  });
});

describe('bodies in memory', () => {
  it('of one account use at most half of the capacity: 429 for it alone', async () => {
    chat(rich, 18 * MIB);
    await until(async () => (await gauge('body_memory_bytes')) >= 18 * MIB);
    const refused = waitingChat(rich);
    await refusalOf(refused, 429, 'rate_limit_exceeded');
    expect(refused.seen).toMatch(/retry-after: \d/i);
    const served = chat(other, 18 * MIB);
    await until(async () => (await gauge('body_memory_bytes')) >= 36 * MIB);
    expect(served.seen).toBe('');
  });

  it('of all keys of one account share its half', async () => {
    const key = await gateway.keyOf(rich.accountId);
    const secondKey = { ...rich, key, headers: { authorization: `Bearer ${key}` } };
    chat(rich, 18 * MIB);
    await until(async () => (await gauge('body_memory_bytes')) >= 18 * MIB);
    await refusalOf(waitingChat(secondKey), 429, 'rate_limit_exceeded');
    const served = chat(other, 18 * MIB);
    await until(async () => (await gauge('body_memory_bytes')) >= 36 * MIB);
    expect(served.seen).toBe('');
  });

  it('of calls whose caller has left count until the call has ended', async () => {
    const url = `data:image/png;base64,${'A'.repeat(18 * MIB)}`;
    const text = { type: 'text', text: '[[sandbox:delay=1500]]' };
    const content = [text, { type: 'image_url', image_url: { url } }];
    const body = JSON.stringify({ model: 'gen-5-mini', messages: [{ role: 'user', content }] });
    const leaving = begin(CHAT, rich, [JSON_TYPE, `Content-Length: ${body.length}`], body);
    await until(async () => (await gateway.balance(rich.accountId)).held > 0n);
    leaving.destroy();
    await once(leaving, 'close');
    await refusalOf(waitingChat(rich), 429, 'rate_limit_exceeded');
    expect((await gateway.balance(rich.accountId)).held).toBeGreaterThan(0n);
  });

  it('are also those of forms of texts', async () => {
    chat(rich, 18 * MIB);
    await until(async () => (await gauge('body_memory_bytes')) >= 18 * MIB);
    for (let sent = 0; sent < 14; sent += 1) video(rich, MIB - 1);
    await until(async () => (await gauge('body_memory_bytes')) >= 32 * MIB - 100);
    await refusalOf(waitingVideo(rich, MIB), 429, 'rate_limit_exceeded');
    const served = waitingVideo(other, MIB);
    while (served.seen === '') await once(served, 'data');
    expect(served.seen).toContain('100 Continue');
  });

  it('of all keys together are bounded: 503 for whoever comes next', async () => {
    chat(rich, 18 * MIB);
    chat(other, 18 * MIB);
    const third = await gateway.account();
    chat(third, 12 * MIB);
    await until(async () => (await gauge('body_memory_bytes')) >= 48 * MIB);
    await refusalOf(waitingChat(await gateway.account()), 503, 'service_unavailable');
  });
});

describe('uploads', () => {
  it('of one account at once are bounded: 429 for it alone (G-100)', async () => {
    upload(rich);
    upload(rich);
    await until(async () => (await gauge('spool_transfers')) === 2);
    await refusalOf(waitingUpload(rich), 429, 'rate_limit_exceeded');
    const served = upload(other);
    await until(async () => (await gauge('spool_transfers')) === 3);
    expect(served.seen).toBe('');
  });

  it('of one account leave half of the disk to the others: 429 for it alone', async () => {
    upload(rich, 20 * MIB);
    await until(async () => (await gauge('spool_bytes')) === 20 * MIB);
    await refusalOf(waitingUpload(rich, 20 * MIB), 429, 'rate_limit_exceeded');
    const served = upload(other, 20 * MIB);
    await until(async () => (await gauge('spool_bytes')) === 40 * MIB);
    expect(served.seen).toBe('');
  });

  it('that have not arrived use no capacity', async () => {
    for (const account of [rich, rich, other, other]) waitingUpload(account, 30 * MIB);
    await until(async () => (await gauge('spool_transfers')) === 4);
    expect(await gauge('spool_bytes')).toBe(0);
    const served = waitingUpload(await gateway.account(), 30 * MIB);
    while (served.seen === '') await once(served, 'data');
    expect(served.seen).toContain('100 Continue');
  });

  it('that do not declare their size are refused with 429 once they pass the share of their account', async () => {
    chunkedUpload(rich, 20 * MIB);
    await until(async () => (await gauge('spool_bytes')) === 20 * MIB);
    await refusalOf(chunkedUpload(rich, 20 * MIB), 429, 'rate_limit_exceeded');
    await until(async () => (await gauge('spool_bytes')) === 20 * MIB);
  });

  it('of all accounts together have a bounded part of the disk: 503 for whoever comes next', async () => {
    upload(rich, 30 * MIB);
    upload(other, 30 * MIB);
    await until(async () => (await gauge('spool_bytes')) === 60 * MIB);
    await refusalOf(waitingUpload(await gateway.account(), 5 * MIB), 503, 'service_unavailable');
  });
});
