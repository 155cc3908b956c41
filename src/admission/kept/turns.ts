import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** How long to wait between two looks at the first request with a key: each time twice as long. */
const FIRST_INTERVAL_MS = 200;
const MAX_INTERVAL_MS = 2_000;
/** Longest wait for the first request with a key. */
const PATIENCE_MS = 120_000;

/**
 * Repeats the attempt until it gives something, while another request with the same idempotency key is under way. Throws 503
 * where that has not ended within 120 s.
 */
export async function inTurn<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  const untilMs = performance.now() + PATIENCE_MS;
  let intervalMs = FIRST_INTERVAL_MS;
  do {
    const result = await attempt();
    if (result !== undefined) return result;
    await sleep(intervalMs);
    intervalMs = Math.min(MAX_INTERVAL_MS, 2 * intervalMs);
  } while (performance.now() < untilMs);
  const message = 'The first request with this key is still running.';
  throw new GatewayError('service_unavailable', message, { retryAfterSeconds: 5 });
}

/** 409: the idempotency key was used with another body. */
export function keyConflict(): GatewayError {
  const message = 'The key was used with another body.';
  return new GatewayError('idempotency_conflict', message, { param: 'Idempotency-Key' });
}
