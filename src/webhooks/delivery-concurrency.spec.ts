import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DeliveryConcurrency } from './delivery-concurrency.js';

const one = { origin: 'https://one.example', accountId: 'a' };
const other = { origin: 'https://other.example', accountId: 'a' };
const HUNG = { statusCode: null, error: 'timeout', durationMs: 10_000 };
const LATE = { statusCode: 200, error: null, durationMs: 5_000 };
const QUICK = { statusCode: 500, error: null, durationMs: 30 };
const UNREACHABLE = { statusCode: null, error: 'connection_failed', durationMs: 1 };

/** Starts of attempts, and ends of the n-th running attempt, which neither is quick nor times out. */
const histories = fc.array(
  fc.oneof(
    fc.record({
      origin: fc.constantFrom(one.origin, other.origin),
      accountId: fc.constantFrom('a', 'b'),
    }),
    fc.nat(40),
  ),
);

describe('DeliveryConcurrency', () => {
  it('counts the running attempts of origins and accounts for any history', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const slots = new DeliveryConcurrency();
        const running: (typeof one)[] = [];
        for (const event of history) {
          if (typeof event === 'object') {
            slots.acquire(event);
            running.push(event);
          } else if (running.length > 0) {
            const [ended] = running.splice(event % running.length, 1);
            if (ended) slots.release(ended, LATE);
          }
        }
        const left = (limit: number, names: string[]) =>
          new Map(
            [...new Set(names)].map((name) => [
              name,
              limit - names.filter((another) => another === name).length,
            ]),
          );
        expect(slots.inFlight).toBe(running.length);
        expect(slots.available()).toMatchObject({
          origins: left(
            4,
            running.map(({ origin }) => origin),
          ),
          accounts: left(
            256,
            running.map(({ accountId }) => accountId),
          ),
        });
      }),
    );
  });

  it('allows four concurrent attempts per origin', () => {
    const slots = new DeliveryConcurrency();
    expect(slots.available()).toMatchObject({ perOrigin: 4, origins: new Map() });
    for (let taken = 1; taken <= 4; taken++) {
      slots.acquire(one);
      expect(slots.available().origins.get(one.origin)).toBe(4 - taken);
    }
    expect(slots.available().origins.has(other.origin)).toBe(false);
    expect(slots.available().accounts.get('a')).toBe(252);
    expect(slots.inFlight).toBe(4);
  });

  it('reports whether another delivery may have waited for the freed capacity', () => {
    const slots = new DeliveryConcurrency();
    for (let taken = 0; taken < 4; taken++) slots.acquire(one);
    expect(slots.release(one, LATE)).toBe(true);
    expect(slots.release(one, LATE)).toBe(false);
  });

  it('allows one attempt to an origin after a timeout, until it responds in time again', () => {
    const slots = new DeliveryConcurrency();
    slots.acquire(one);
    slots.acquire(one);
    slots.release(one, HUNG);
    expect(slots.available().origins.get(one.origin)).toBe(0);
    slots.release(one, HUNG);
    expect(slots.available().origins.get(one.origin)).toBe(1);
    slots.acquire(one);
    expect(slots.available().origins.get(one.origin)).toBe(0);
    expect(slots.release(one, LATE)).toBe(true);
    expect(slots.available().origins.has(one.origin)).toBe(false);
  });

  it('raises the limit of an origin by one per quick response, up to 32, and resets it to four after a slow one', () => {
    const slots = new DeliveryConcurrency();
    const answered = (pace: typeof HUNG | typeof QUICK, times = 1): number => {
      for (let turn = 0; turn < times; turn++) {
        slots.acquire(one);
        slots.release(one, pace);
      }
      return slots.available().origins.get(one.origin) ?? 4;
    };
    expect(answered(QUICK)).toBe(5);
    expect(answered(QUICK, 10)).toBe(15);
    expect(answered(QUICK, 100)).toBe(32);
    expect(answered(LATE)).toBe(4);
    expect(answered(QUICK, 2)).toBe(6);
    expect(answered(UNREACHABLE)).toBe(4);
    expect(answered(QUICK, 2)).toBe(6);
    expect(answered(HUNG)).toBe(1);
    expect(answered(QUICK)).toBe(4);
  });

  it('limits one account to a quarter of the capacity, and all accounts to 1,024', () => {
    const slots = new DeliveryConcurrency();
    const takeAll = (accountId: string): void => {
      for (let n = 0; n < 256; n++) slots.acquire({ origin: `${accountId}${n}`, accountId });
    };
    takeAll('a');
    expect(slots.available()).toMatchObject({ total: 256, accounts: new Map([['a', 0]]) });
    takeAll('b');
    takeAll('c');
    expect(slots.available().total).toBe(128);
    takeAll('d');
    expect(slots.available().total).toBe(0);
    expect(slots.release({ origin: 'b7', accountId: 'b' }, LATE)).toBe(true);
    expect(slots.available().total).toBe(1);
  });

  it.each([4, 8])(
    'leaves capacity for one more account while the receivers of %i hang',
    (hanging) => {
      const slots = new DeliveryConcurrency();
      for (let claim = 0; claim < 50; claim++) {
        const { total, perAccount, accounts } = slots.available();
        let claimed = 0;
        for (let n = 0; n < hanging; n++) {
          const accountId = `account ${n}`;
          for (
            let room = accounts.get(accountId) ?? perAccount;
            room > 0 && claimed < total;
            room--
          ) {
            slots.acquire({ origin: `${accountId} ${claim} ${claimed}`, accountId });
            claimed += 1;
          }
        }
      }
      expect(slots.inFlight).toBeGreaterThan(700);
      const { total, perAccount } = slots.available();
      expect(Math.min(total, perAccount)).toBeGreaterThanOrEqual(4);
    },
  );
});
