import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway-error.js';
import { DatabaseOutage } from './database-outage.js';

const SECOND_MS = 1_000;
const refusal = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });

describe('a database that is away', () => {
  let lines: { level: string; fields: Record<string, unknown>; text: string }[];
  let chance: number;
  let outage: DatabaseOutage;
  const write = (level: string) => (fields: unknown, text?: unknown) => {
    lines.push({ level, fields: fields as Record<string, unknown>, text: String(text) });
  };

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    chance = 0;
    outage = new DatabaseOutage({
      logger: { error: write('error'), info: write('info') },
      nowMs: () => performance.now(),
      random: () => chance,
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const wait = (): number | undefined => outage.translate(refusal())?.retryAfterSeconds;

  it('tells callers to wait for 1, 2, 5 and 10 seconds as it goes on, and for 1 again after its end', () => {
    const waits = [0, 1_000, 1_000, 3_000, 10_000, 60_000].map((passedMs) => {
      jest.advanceTimersByTime(passedMs);
      return wait();
    });
    expect(waits).toEqual([1, 1, 2, 5, 10, 10]);
    outage.end();
    expect(wait()).toBe(1);
  });

  it('spreads the callers over half of the wait', () => {
    wait();
    jest.advanceTimersByTime(20 * SECOND_MS);
    const spread = [0, 0.5, 0.999].map((value) => {
      chance = value;
      return wait();
    });
    expect(spread).toEqual([10, 13, 15]);
  });

  it('is told the callers of the ledger too, in its own words', () => {
    const cause = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const own = new GatewayError('service_unavailable', 'No ledger.', {
      retryAfterSeconds: 1,
      cause,
    });
    outage.translate(own);
    jest.advanceTimersByTime(20 * SECOND_MS);
    const told = outage.translate(own);
    expect([told?.message, told?.retryAfterSeconds, told?.cause]).toEqual([
      'No ledger.',
      10,
      cause,
    ]);
  });

  it('is not one where the database rolls back because of others, or a fault is ours', () => {
    wait();
    jest.advanceTimersByTime(20 * SECOND_MS);
    const contention = outage.translate(Object.assign(new Error('timeout'), { code: '55P03' }));
    expect([contention?.code, contention?.retryAfterSeconds]).toEqual(['service_unavailable', 1]);
    expect(contention?.message).toContain('did not end this call in time');
    expect(contention && outage.counts(contention)).toBe(false);
    expect(outage.translate(new Error('ours'))).toBeUndefined();
    expect(outage.translate(new GatewayError('service_unavailable', 'Full.'))).toBeUndefined();
    expect(lines).toEqual([]);
  });

  it.each([
    [refusal(), 'cannot reach its database', 'the database is away'],
    [
      new Error('timeout exceeded when trying to connect'),
      'are in use',
      'no connection of the pool became free',
    ],
  ])('is told apart from a pool that is full: %s', (cause, told, logged) => {
    const error = outage.translate(cause);
    expect(error?.message).toContain(told);
    expect(error && outage.counts(error)).toBe(true);
    expect(lines).toMatchObject([{ text: `calls are refused with 503: ${logged}` }]);
  });

  it('is one line a second with the number of refused calls, and one at its end', () => {
    for (let second = 0; second < 3; second += 1) {
      for (let call = 0; call < 100; call += 1) {
        const error = outage.translate(refusal());
        expect(error && outage.counts(error)).toBe(true);
        jest.advanceTimersByTime(SECOND_MS / 100);
      }
    }
    outage.end();
    const [first] = lines;
    expect(first).toEqual({
      level: 'error',
      fields: { refused: 1, code: 'ECONNREFUSED', reason: 'connect ECONNREFUSED 10.0.0.7:5432' },
      text: 'calls are refused with 503: the database is away',
    });
    expect(lines.map(({ fields }) => fields.refused)).toEqual([1, 99, 100, 100, 300]);
    expect(lines.at(-1)).toMatchObject({
      level: 'info',
      fields: { seconds: 3 },
      text: 'the database is back',
    });
    jest.advanceTimersByTime(10 * SECOND_MS);
    expect(lines).toHaveLength(5);
  });
});
