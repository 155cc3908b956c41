import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../common/entries-limit.js';
import type { Clock } from '../../common/time/clock.js';
import { takeToken, type TokenBuckets, type TokenOutcome, WINDOW_MS } from './token-bucket.js';

const BUCKET_LIMIT = 100_000;

/** Buckets of one process. A bucket that was not used for a minute is full, so it can be dropped. */
export class MemoryBuckets implements TokenBuckets {
  private readonly fullAtMicros = new LRUCache<string, number>({
    ...entriesLimit(BUCKET_LIMIT),
    ttl: WINDOW_MS,
  });

  constructor(private readonly clock: Clock) {}

  take(bucket: string, perMinute: number, count = 1): TokenOutcome {
    const { outcome, fullAtMicros } = takeToken(
      this.fullAtMicros.get(bucket) ?? 0,
      perMinute,
      this.clock.nowMs(),
      count,
    );
    this.fullAtMicros.set(bucket, fullAtMicros);
    return outcome;
  }
}
