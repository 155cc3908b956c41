const MICROS_PER_MS = 1_000;

/** Time in which an empty bucket becomes full. Limits are per minute. */
export const WINDOW_MS = 60_000;

/** The result of a request for tokens. */
export interface TokenOutcome {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Time until the bucket is full again. */
  readonly resetMs: number;
  /** Time until there are enough tokens; 0 when they were given. */
  readonly retryAfterMs: number;
}

/** Where buckets are kept: in this process, in the primary process, or in Redis. */
export interface TokenBuckets {
  /** Takes tokens, one unless `count` says more, all or none, from a bucket that holds `perMinute` tokens and refills in a minute. */
  take(bucket: string, perMinute: number, count?: number): Promise<TokenOutcome> | TokenOutcome;
  /** Ends its connection, if it has one. */
  close?(): void;
}

/**
 * A token bucket as one number (GCRA): the time at which it is full again. Returns the result and the new number; a
 * denied request leaves the number unchanged. Times are whole microseconds, because a double cannot hold present times
 * with fractions of milliseconds exactly. An interval is rounded down, so that `perMinute` requests always fit. `count`
 * tokens are taken, all or none.
 */
export function takeToken(
  fullAtMicros: number,
  perMinute: number,
  nowMs: number,
  count = 1,
): { outcome: TokenOutcome; fullAtMicros: number } {
  const nowMicros = Math.floor(nowMs * MICROS_PER_MS);
  const interval = Math.max(1, Math.floor((WINDOW_MS * MICROS_PER_MS) / perMinute));
  const window = interval * perMinute;
  const base = Math.max(fullAtMicros, nowMicros);
  const taken = interval * count;
  const wait = base + taken - window - nowMicros;
  const allowed = wait <= 0;
  const full = allowed ? base + taken : base;
  return {
    outcome: {
      allowed,
      remaining: Math.floor((nowMicros + window - full) / interval),
      resetMs: (full - nowMicros) / MICROS_PER_MS,
      retryAfterMs: allowed ? 0 : wait / MICROS_PER_MS,
    },
    fullAtMicros: full,
  };
}
