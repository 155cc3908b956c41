const MICROS_PER_MS = 1_000;

/** Window in which a full bucket refills; limits are per minute. */
export const WINDOW_MS = 60_000;

/** Outcome of asking a bucket for one token. */
export interface TokenOutcome {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Time until the bucket is full again. */
  readonly resetMs: number;
  /** Time until the next token; 0 when this one was given. */
  readonly retryAfterMs: number;
}

/** Where buckets live: in this process, in the primary process, or in Redis. */
export interface TokenBuckets {
  /** Takes one token of a bucket that holds and refills `perMinute` tokens. */
  take(bucket: string, perMinute: number): Promise<TokenOutcome> | TokenOutcome;
}

/**
 * A token bucket as one number (GCRA): the time at which it would be full again. Returns the outcome and the new
 * number; a refusal leaves the bucket as it was. Whole microseconds, because milliseconds of our time with fractions
 * are more than a double holds; an interval is rounded down, so that `perMinute` always fit.
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
