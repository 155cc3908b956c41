import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { type Answer, errorOf, postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';

const LIMIT = 3;
const PATIENCE_MS = 60_000;
const SLOW = '[[sandbox:delay=4000]]Hello';
const PRICE_PER_CODE_POINT = 120n;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ MAX_PARALLEL_CALLS_PER_KEY: String(LIMIT) });
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
});

const speak = (headers: Record<string, string>, input: string) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, input });

/** Resolves when all of the account's slow calls have their holds. */
async function running(account: TestAccount): Promise<void> {
  const held = BigInt(LIMIT * SLOW.length) * PRICE_PER_CODE_POINT;
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 20) {
    if ((await gateway.balance(account.accountId)).held === held) return;
    await sleep(20);
  }
  throw new Error('the slow calls were never held');
}

function fill({ headers }: TestAccount): Promise<Answer[]> {
  return Promise.all(Array.from({ length: LIMIT }, () => speak(headers, SLOW)));
}

describe('the parallel calls of one key', () => {
  it('are bounded: the next is 429 with Retry-After before any hold, and other keys feel nothing', async () => {
    const account = await gateway.account();
    const calls = fill(account);
    await running(account);
    const before = await gateway.balance(account.accountId);
    const refused = await speak(account.headers, 'Hello');
    expect(refused.status).toBe(429);
    expect(errorOf(refused).code).toBe('rate_limit_exceeded');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await gateway.balance(account.accountId)).toEqual(before);
    const key = await gateway.keyOf(account.accountId);
    expect((await speak({ authorization: `Bearer ${key}` }, 'Hello')).status).toBe(200);
    expect((await calls).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await speak(account.headers, 'Hello')).status).toBe(200);
  });
});
