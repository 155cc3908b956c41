import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from '../platform/database/database-errors.js';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

/**
 * Runs a statement until the database takes it, because contention and lost connections pass. No try begins later than
 * `patienceMs`.
 * The statement may have been committed before it failed, so it must be safe to repeat. Throws its last error.
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
