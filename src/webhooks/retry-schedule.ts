import type { DeliveryStatus } from './delivery.js';

/** The next step of a delivery after an attempt. */
export interface NextStep {
  readonly status: DeliveryStatus;
  /** Index of the delay after the next failure; null: none. */
  readonly retry: number | null;
  /** Milliseconds until the next attempt; null: no further attempt. */
  readonly waitMs: number | null;
}

/**
 * The next step after a response with this status, or without a response (null). A 2xx completes the delivery, a 4xx fails it,
 * and everything else is retried until the schedule ends (API: Retry rules; decisions G-81, G-82). `retry` is the index of the
 * next delay in `delaysMs`; null: none.
 */
export function nextStep(
  statusCode: number | null,
  retry: number | null,
  delaysMs: readonly number[],
): NextStep {
  if (statusCode !== null && statusCode >= 200 && statusCode <= 299) return over('delivered');
  if (statusCode !== null && statusCode >= 400 && statusCode <= 499) return over('failed');
  const delayMs = retry === null ? undefined : delaysMs[retry];
  if (retry === null || delayMs === undefined) return over('failed');
  return { status: 'pending', retry: retry + 1, waitMs: delayMs };
}

function over(status: 'delivered' | 'failed'): NextStep {
  return { status, retry: null, waitMs: null };
}
