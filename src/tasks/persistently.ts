import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from '../database/database-errors.js';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

/**
 * Runs a statement until the database takes it, for at most `patienceMs` of waiting: contention and lost connections pass.
 * The statement may have been committed before it failed, so it must be safe to repeat. Throws its last error.
 */
export async function persistently<T>(statement: () => Promise<T>, patienceMs: number): Promise<T> {
  let backoffMs = FIRST_BACKOFF_MS;
  for (
    let waitedMs = 0;
    ;
    waitedMs += backoffMs, backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
  ) {
    try {
      return await statement();
    } catch (error) {
      if (!isTransient(error) || waitedMs >= patienceMs) throw error;
      await sleep(backoffMs);
    }
  }
}
