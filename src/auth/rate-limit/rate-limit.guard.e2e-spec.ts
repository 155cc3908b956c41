import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, postJson, send } from '../../../test/support/http-answer.js';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.js';
import { stopClock } from '../../../test/support/stopped-clock.js';

const LIMIT = 40;
const READ_LIMIT = '400';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ RATE_LIMIT_RPM: String(LIMIT) });
  stopClock(gateway);
});
afterAll(() => gateway.stop());

const limitOf = (headers: Headers): string | null => headers.get('x-ratelimit-limit-requests');
const remainingOf = (headers: Headers): string | null =>
  headers.get('x-ratelimit-remaining-requests');
const submit = (headers: Record<string, string>) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, {});
const read = (headers: Record<string, string>, path = '/v1/account') =>
  send(gateway.url + path, { headers });

describe('the limit of a key', () => {
  it('is in the headers of every response, for submissions and reads separately', async () => {
    const { headers } = await gateway.account(0n);
    const submitted = await submit(headers);
    expect(submitted.status).toBe(400);
    expect(limitOf(submitted.headers)).toBe(String(LIMIT));
    expect(remainingOf(submitted.headers)).toBe(String(LIMIT - 1));
    expect(submitted.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+ms$/);
    expect(submitted.headers.has('retry-after')).toBe(false);
    const readAnswer = await read(headers);
    expect(limitOf(readAnswer.headers)).toBe(READ_LIMIT);
    expect(remainingOf(readAnswer.headers)).toBe('399');
  });

  it('rejects requests above it with 429 and whole seconds to wait (ERR-09, LIMIT-17)', async () => {
    const { headers } = await gateway.account(0n, { requestsPerMinute: 600 });
    const refused = await firstRefused(() => submit(headers), 601);
    expect(errorOf(refused)).toMatchObject({
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
    });
    // There is a new token every 100 ms, but waits are told in whole seconds of at least 1.
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(remainingOf(refused.headers)).toBe('0');
  });

  it('of the key itself replaces the default, with ten times as many reads', async () => {
    const { headers } = await gateway.account(0n, { requestsPerMinute: 1 });
    expect((await submit(headers)).status).toBe(400);
    const refused = await submit(headers);
    expect(refused.status).toBe(429);
    expect(limitOf(refused.headers)).toBe('1');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    const reads = [];
    for (let call = 0; call < 10; call += 1) reads.push((await read(headers)).status);
    expect(new Set(reads)).toEqual(new Set([200]));
  });

  it('counts per key, not per account', async () => {
    const { accountId, headers } = await gateway.account(0n, { requestsPerMinute: 1 });
    await submit(headers);
    expect((await submit(headers)).status).toBe(429);
    const other = await gateway.keyOf(accountId, { requestsPerMinute: 1 });
    expect((await submit({ authorization: `Bearer ${other}` })).status).toBe(400);
  });

  it('never rejects a poll every ten seconds, which even the smallest limit allows (LIMIT-12, G-14)', async () => {
    const { headers } = await gateway.account(0n, { requestsPerMinute: 1 });
    const { headers: told } = await read(headers);
    expect(Number(limitOf(told))).toBeGreaterThanOrEqual(60 / 10);
    // The default limit lets a key poll many tasks at that pace.
    const { headers: ordinary } = await gateway.account(0n);
    expect(limitOf((await read(ordinary)).headers)).toBe(READ_LIMIT);
  });

  it('does not count requests with a rejected key, and counts requests that are rejected later', async () => {
    const unknown = await submit({ authorization: `Bearer sk-${'x'.repeat(43)}` });
    expect(unknown.status).toBe(401);
    expect(limitOf(unknown.headers)).toBeNull();
    const { headers } = await gateway.account(0n, { requestsPerMinute: 5 });
    await postJson(`${gateway.url}/v1/audio/speech`, headers, '{broken');
    await postJson(`${gateway.url}/v1/audio/speech`, headers, { model: 'nope' });
    expect(remainingOf((await submit(headers)).headers)).toBe('2');
  });

  it('does not apply to health, metrics and docs', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics', '/openapi.json']) {
      expect(limitOf((await send(gateway.url + path)).headers)).toBeNull();
    }
  });
});

describe('RATE_LIMIT_RPM=0', () => {
  it('limits nothing and sends no headers, but a key keeps its own limit', async () => {
    const unlimited = await startTestGateway();
    stopClock(unlimited);
    try {
      const speak = (headers: Record<string, string>) =>
        postJson(`${unlimited.url}/v1/audio/speech`, headers, {});
      const free = await unlimited.account(0n);
      const answer = await speak(free.headers);
      expect([...answer.headers.keys()].filter((name) => name.startsWith('x-rate'))).toEqual([]);
      const bound = await unlimited.account(0n, { requestsPerMinute: 1 });
      expect(remainingOf((await speak(bound.headers)).headers)).toBe('0');
      expect((await speak(bound.headers)).status).toBe(429);
    } finally {
      await unlimited.stop();
    }
  });
});

/** Sends requests in parallel, in rounds, until one is refused; so many are enough. */
async function firstRefused(ask: () => ReturnType<typeof submit>, enough: number) {
  const ROUND = 50;
  for (let asked = 0; asked < enough; asked += ROUND) {
    const answers = await Promise.all(Array.from({ length: ROUND }, ask));
    const refused = answers.find(({ status }) => status === 429);
    if (refused) return refused;
  }
  throw new Error('nothing was refused');
}
