import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PayOnSuccess } from '../../src/executions/pay-on-success.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { type Answer, errorOf, postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';

const LIMIT = 3;
const PATIENCE_MS = 10_000;

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

async function running(count: number): Promise<void> {
  const payment = gateway.app.get(PayOnSuccess, { strict: false });
  for (let waitedMs = 0; payment.inFlight !== count && waitedMs < PATIENCE_MS; waitedMs += 5) {
    await sleep(5);
  }
  expect(payment.inFlight).toBe(count);
}

function fill({ headers }: TestAccount): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: LIMIT }, () => speak(headers, '[[sandbox:delay=1500]]Hello')),
  );
}

describe('the parallel calls of one key', () => {
  it('are bounded: the next is 429 with Retry-After before any hold, and other keys feel nothing', async () => {
    const account = await gateway.account();
    const calls = fill(account);
    await running(LIMIT);
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
