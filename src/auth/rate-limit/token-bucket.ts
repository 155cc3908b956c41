/** Far below any interval; absorbs the rounding of doubles. */
const ROUNDING_MS = 1e-6;

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
 * number; a refusal leaves the bucket as it was.
 */
export function takeToken(
  fullAtMs: number,
  perMinute: number,
  nowMs: number,
): { outcome: TokenOutcome; fullAtMs: number } {
  const intervalMs = WINDOW_MS / perMinute;
  const base = Math.max(fullAtMs, nowMs);
  const next = base + intervalMs;
  const retryAfterMs = Math.max(0, next - WINDOW_MS - nowMs);
  const allowed = retryAfterMs < ROUNDING_MS;
  const resultMs = allowed ? next : base;
  return {
    outcome: {
      allowed,
      remaining: Math.max(0, Math.floor((nowMs + WINDOW_MS - resultMs) / intervalMs + 1e-6)),
      resetMs: resultMs - nowMs,
      retryAfterMs: allowed ? 0 : retryAfterMs,
    },
    fullAtMs: resultMs,
  };
}
