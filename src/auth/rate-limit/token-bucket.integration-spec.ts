import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Clock } from '../../common/time/clock.js';
import { MemoryBuckets } from './memory-buckets.js';
import { takeToken, type TokenOutcome, WINDOW_MS } from './token-bucket.js';

class SetClock extends Clock {
  constructor(private ms = 1_700_000_000_000) {
    super();
  }

  nowMs(): number {
    return this.ms;
  }

  pass(ms: number): void {
    this.ms += ms;
  }
}

/** A plain token bucket as a reference. A token has as many parts as microseconds pass until the next token. */
class NaiveBucket {
  private readonly token: number;
  private readonly size: number;
  private parts: number;

  constructor(perMinute: number) {
    this.token = Math.max(1, Math.floor((WINDOW_MS * 1_000) / perMinute));
    this.size = this.token * perMinute;
    this.parts = this.size;
  }

  pass(ms: number): void {
    this.parts = Math.min(this.size, this.parts + ms * 1_000);
  }

  take(): TokenOutcome {
    const allowed = this.parts >= this.token;
    const retryAfterMs = allowed ? 0 : (this.token - this.parts) / 1_000;
    if (allowed) this.parts -= this.token;
    return {
      allowed,
      remaining: Math.floor(this.parts / this.token),
      resetMs: (this.size - this.parts) / 1_000,
      retryAfterMs,
    };
  }
}

describe('a token bucket', () => {
  it('behaves like a naive implementation for any limit and any request times', () => {
    const limits = fc.oneof(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 100_000_000 }),
    );
    const waits = fc.array(
      fc.oneof(
        fc.constant(0),
        fc.integer({ max: 3_000, min: 0 }),
        fc.integer({ max: 130_000, min: 0 }),
      ),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(limits, waits, (perMinute, pauses) => {
        const clock = new SetClock();
        const model = new NaiveBucket(perMinute);
        let fullAtMicros = 0;
        for (const pause of pauses) {
          clock.pass(pause);
          model.pass(pause);
          const taken = takeToken(fullAtMicros, perMinute, clock.nowMs());
          fullAtMicros = taken.fullAtMicros;
          expect(taken.outcome).toEqual(model.take());
        }
      }),
      { numRuns: 300 },
    );
  });

  it('gives the next token exactly at the time that the denied request named', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (perMinute) => {
        const clock = new SetClock();
        const buckets = new MemoryBuckets(clock);
        for (let call = 0; call < perMinute; call += 1) {
          expect(buckets.take('key', perMinute).allowed).toBe(true);
        }
        const { allowed, retryAfterMs } = buckets.take('key', perMinute);
        expect(allowed).toBe(false);
        clock.pass(Math.ceil(retryAfterMs) - 1);
        expect(buckets.take('key', perMinute).allowed).toBe(false);
        clock.pass(1);
        expect(buckets.take('key', perMinute).allowed).toBe(true);
      }),
    );
  });
});

describe('the buckets of a process', () => {
  it('are independent of each other and full after a minute', () => {
    const clock = new SetClock();
    const buckets = new MemoryBuckets(clock);
    expect(buckets.take('one', 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect(buckets.take('one', 1)).toMatchObject({ allowed: false, retryAfterMs: WINDOW_MS });
    expect(buckets.take('other', 1).allowed).toBe(true);
    clock.pass(WINDOW_MS);
    expect(buckets.take('one', 1).allowed).toBe(true);
  });
});
