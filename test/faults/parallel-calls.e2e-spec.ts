import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { type Answer, errorOf, postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../support/stub-speech.js';
import type { StubUpstream } from '../support/stub-upstream.js';

const LIMIT = 2;
/** One account may have as many calls under way as this many keys. */
const KEYS_PER_ACCOUNT = 5;
const PATIENCE_MS = 60_000;

/** It answers when the test says so. */
let stub: StubUpstream;
let asked: ServerResponse[];
let gateway: TestGateway;

beforeAll(async () => {
  stub = await startStubSpeech();
  gateway = await startTestGateway({
    ...servedBy(stub),
    MAX_PARALLEL_CALLS_PER_KEY: String(LIMIT),
  });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await stub.stop();
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const speak = (key: string) => postJson(`${gateway.url}/v1/audio/speech`, bearer(key), HELLO);

/** Begins as many calls as one key may have, of each key; resolves when the provider has them all. */
async function begun(keys: readonly string[]): Promise<Promise<Answer>[]> {
  asked = [];
  stub.reply = (response) => asked.push(response);
  const calls = keys.flatMap((key) => Array.from({ length: LIMIT }, () => speak(key)));
  for (let waitedMs = 0; asked.length < calls.length && waitedMs < PATIENCE_MS; waitedMs += 20) {
    await sleep(20);
  }
  expect(asked).toHaveLength(calls.length);
  // What comes now is answered at once.
  stub.reply = (response) => response.end(MP3_HEAD);
  return calls;
}

async function expectServed(calls: readonly Promise<Answer>[]): Promise<void> {
  for (const response of asked) response.end(MP3_HEAD);
  expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
}

async function expectRefused({ accountId }: TestAccount, key: string): Promise<void> {
  const before = await gateway.balance(accountId);
  const refused = await speak(key);
  expect(refused.status).toBe(429);
  expect(errorOf(refused).code).toBe('rate_limit_exceeded');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await gateway.balance(accountId)).toEqual(before);
}

describe('the parallel calls', () => {
  it('of one key are bounded: the next is 429 with Retry-After before any hold, and other keys feel nothing (G-100)', async () => {
    const account = await gateway.account();
    const calls = await begun([account.key]);
    await expectRefused(account, account.key);
    expect((await speak(await gateway.keyOf(account.accountId))).status).toBe(200);
    await expectServed(calls);
    expect((await speak(account.key)).status).toBe(200);
  });

  it('of one account are bounded, however many keys it has, and other accounts feel nothing', async () => {
    const account = await gateway.account();
    const keys: string[] = [account.key];
    while (keys.length < KEYS_PER_ACCOUNT) keys.push(await gateway.keyOf(account.accountId));
    const calls = await begun(keys);
    const another = await gateway.keyOf(account.accountId);
    await expectRefused(account, another);
    expect((await speak((await gateway.account()).key)).status).toBe(200);
    await expectServed(calls);
    expect((await speak(another)).status).toBe(200);
  });
});
