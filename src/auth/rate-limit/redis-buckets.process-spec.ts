import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS } from '../../../test/support/process.js';
import { until } from '../../../test/support/until.js';
import { RedisServer } from '../../../test/support/redis-server.js';
import { SystemClock } from '../../common/time/clock.js';
import { MemoryBuckets } from './memory-buckets.js';
import { PATIENCE_MS, RedisBuckets } from './redis-buckets.js';
import { type TokenOutcome, WINDOW_MS } from './token-bucket.js';

/** Longer than the time between two requests, even on a busy machine. */
const SLACK_MS = 10_000;
/** Tests in parallel delay answers. */
const SLOW_MACHINE_MS = 2_000;
/** Attempts to connect begin 100, 200 and 300 ms after each other. */
const SEVERAL_ATTEMPTS_MS = 1_000;
const describeWithRedis = RedisServer.program === undefined ? describe.skip : describe;

describeWithRedis('buckets in Redis', () => {
  let redis: RedisServer;
  const open: RedisBuckets[] = [];
  const told: string[] = [];
  const listener = {
    lost: () => told.push('lost'),
    found: () => told.push('found'),
  };

  const connect = async (patienceMs = SLOW_MACHINE_MS): Promise<RedisBuckets> => {
    const buckets = new RedisBuckets(redis.url, new SystemClock(), listener, patienceMs);
    open.push(buckets);
    await buckets.ready();
    return buckets;
  };

  beforeAll(async () => {
    redis = await RedisServer.start();
  }, PROCESS_TEST_TIMEOUT_MS);
  afterAll(async () => {
    for (const buckets of open) buckets.close();
    await cleanUp();
  }, PROCESS_TEST_TIMEOUT_MS);

  it.each([1, 2, 7, 600, 100_000_000])(
    'of %i per minute return the same results as buckets in memory',
    async (limit) => {
      const shared = await connect();
      const local = new MemoryBuckets(new SystemClock());
      for (let call = 0; call < Math.min(limit + 1, 12); call += 1) {
        const expected = local.take('key', limit);
        const outcome = await shared.take(`same-${limit}`, limit);
        expect(outcome.allowed).toBe(expected.allowed);
        expect(Math.abs(outcome.resetMs - expected.resetMs)).toBeLessThan(SLACK_MS);
        expect(Math.abs(outcome.retryAfterMs - expected.retryAfterMs)).toBeLessThan(SLACK_MS);
        expect(outcome.remaining).toBeLessThanOrEqual(limit - 1);
      }
    },
  );

  it('are shared by all processes', async () => {
    const [here, there] = [await connect(), await connect()];
    const outcomes: TokenOutcome[] = [];
    for (const buckets of [here, there, here, there]) outcomes.push(await buckets.take('one', 2));
    expect(outcomes.map(({ allowed }) => allowed)).toEqual([true, true, false, false]);
    expect(outcomes.map(({ remaining }) => remaining)).toEqual([1, 0, 0, 0]);
    expect(outcomes[3]?.retryAfterMs).toBeGreaterThan(0);
    expect(outcomes[3]?.retryAfterMs).toBeLessThanOrEqual(WINDOW_MS / 2);
  });

  it(
    'are kept in memory while Redis is down, and in Redis again when it is back',
    async () => {
      const buckets = await connect();
      await buckets.take('gone', 1000);
      expect(buckets.isUp).toBe(true);
      await redis.kill();
      await until(() => told.includes('lost'));
      expect(buckets.isUp).toBe(false);
      const alone = [await buckets.take('gone', 1), await buckets.take('gone', 1)];
      expect(alone.map(({ allowed }) => allowed)).toEqual([true, false]);
      await redis.restart();
      await buckets.ready();
      // Redis does not know what was taken in the meantime.
      await until(async () => (await buckets.take('gone', 1)).allowed);
      expect(buckets.isUp).toBe(true);
      const other = await connect();
      expect((await other.take('gone', 1)).allowed).toBe(false);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'cost one call at most 50 ms while Redis hangs, and then none, until it is back',
    async () => {
      for (const buckets of open.splice(0)) buckets.close();
      const buckets = await connect(PATIENCE_MS);
      await buckets.take('hung', 1000);
      await until(() => buckets.isUp);
      told.length = 0;
      redis.signal('SIGSTOP');
      const timed = async (): Promise<number> => {
        const started = performance.now();
        expect((await buckets.take('hung', 1000)).allowed).toBe(true);
        return performance.now() - started;
      };
      const first = await timed();
      const others: number[] = [];
      for (let call = 0; call < 100; call += 1) others.push(await timed());
      redis.signal('SIGCONT');
      expect(first).toBeGreaterThan(40);
      // If they waited, all of them would be as slow as the first.
      expect(others.filter((ms) => ms > 40).length).toBeLessThan(10);
      await until(() => buckets.isUp);
      expect(told).toEqual(['lost', 'found']);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'report each loss and each return once, however often connecting fails',
    async () => {
      for (const buckets of open.splice(0)) buckets.close();
      await connect();
      told.length = 0;
      for (let loss = 1; loss <= 2; loss += 1) {
        await redis.kill();
        await sleep(SEVERAL_ATTEMPTS_MS);
        await redis.restart();
        await until(() => told.length >= 2 * loss);
      }
      expect(told).toEqual(['lost', 'found', 'lost', 'found']);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
