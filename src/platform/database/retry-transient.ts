import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from './database-errors.js';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

/**
 * Retries a statement after transient errors (contention, lost connections) with backoff. No try begins later than
 * `patienceMs`. A failed try may have been committed, so the statement must be idempotent. Throws the last error.
 */
export async function retryTransient<T>(
  statement: () => Promise<T>,
  patienceMs: number,
): Promise<T> {
  const startedAtMs = performance.now();
  for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
    try {
      return await statement();
    } catch (error) {
      const leftMs = startedAtMs + patienceMs - performance.now();
      if (!isTransient(error) || leftMs <= 0) throw error;
      await sleep(Math.min(backoffMs, leftMs));
    }
  }
}
