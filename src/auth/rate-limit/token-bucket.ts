const MICROS_PER_MS = 1_000;

/** Time in which an empty bucket becomes full. Limits are per minute. */
export const WINDOW_MS = 60_000;

/** The result of a request for one token. */
export interface TokenOutcome {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Time until the bucket is full again. */
  readonly resetMs: number;
  /** Time until the next token; 0 when a token was given. */
  readonly retryAfterMs: number;
}

/** Where buckets are kept: in this process, in the primary process, or in Redis. */
export interface TokenBuckets {
  /** Takes one token from a bucket that holds `perMinute` tokens and refills in a minute. */
  take(bucket: string, perMinute: number): Promise<TokenOutcome> | TokenOutcome;
  /** Ends its connection, if it has one. */
  close?(): void;
}

/**
 * A token bucket as one number (GCRA): the time at which it is full again. Returns the result and the new number; a
 * denied request leaves the number unchanged. Times are whole microseconds, because a double cannot hold present times
 * with fractions of milliseconds exactly. An interval is rounded down, so that `perMinute` requests always fit.
 */
export function takeToken(
  fullAtMicros: number,
  perMinute: number,
  nowMs: number,
): { outcome: TokenOutcome; fullAtMicros: number } {
  const nowMicros = Math.floor(nowMs * MICROS_PER_MS);
  const interval = Math.max(1, Math.floor((WINDOW_MS * MICROS_PER_MS) / perMinute));
  const window = interval * perMinute;
  const base = Math.max(fullAtMicros, nowMicros);
  const wait = base + interval - window - nowMicros;
  const allowed = wait <= 0;
  const full = allowed ? base + interval : base;
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
