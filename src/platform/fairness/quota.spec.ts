import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Quota } from './quota.js';

/** An amount that a bucket wants, or the release of the n-th amount that is in use. */
const histories = fc.array(
  fc.oneof(fc.record({ bucket: fc.constantFrom('a', 'b', 'c'), amount: fc.nat(6) }), fc.nat(20)),
);

const quantity = () => new Quota({ total: 10, perBucket: 6, what: 'cakes' });

describe('Quota', () => {
  it('acquires what fits both limits for any history', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const [cakes, tried] = [quantity(), quantity()];
        const inUse: { bucket: string; amount: number }[] = [];
        const sumOf = (all: typeof inUse) => all.reduce((sum, { amount }) => sum + amount, 0);
        for (const event of history) {
          if (typeof event === 'number') {
            const [released] = inUse.splice(event % Math.max(1, inUse.length), 1);
            if (released) cakes.release(released.bucket, released.amount);
            if (released) tried.release(released.bucket, released.amount);
            continue;
          }
          const own = inUse.filter(({ bucket }) => bucket === event.bucket);
          const isTooMuch = sumOf(own) + event.amount > 6;
          const isFull = sumOf(inUse) + event.amount > 10;
          const code = isTooMuch ? 'rate_limit_exceeded' : 'service_unavailable';
          const error = isTooMuch || isFull ? code : undefined;
          expect(cakes.check(event.bucket, event.amount)?.code).toBe(error);
          expect(cakes.acquire(event.bucket, event.amount)?.code).toBe(error);
          expect(tried.tryAcquire(event.bucket, event.amount)).toBe(error === undefined);
          if (error === undefined) inUse.push(event);
          expect([cakes.inUse, tried.inUse]).toEqual([sumOf(inUse), sumOf(inUse)]);
        }
      }),
    );
  });

  it('limits each bucket to its own maximum (429), whatever other buckets use', () => {
    const cakes = quantity();
    expect(cakes.acquire('a', 6)).toBeUndefined();
    expect(cakes.acquire('a', 1)).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(cakes.acquire('b', 4)).toBeUndefined();
    expect(cakes.inUse).toBe(10);
  });

  it('limits all buckets to the total (503)', () => {
    const cakes = quantity();
    cakes.acquire('a', 6);
    expect(cakes.acquire('b', 5)).toMatchObject({ code: 'service_unavailable' });
    expect(cakes.check('b', 4)).toBeUndefined();
  });

  it('can acquire again what was released', () => {
    const cakes = quantity();
    cakes.acquire('a', 6);
    cakes.release('a', 6);
    expect(cakes.inUse).toBe(0);
    expect(cakes.acquire('a', 6)).toBeUndefined();
  });
});
