import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFaultOf } from './database-errors.js';

/**
 * Longest wait of a start for a database that cannot be reached: a server that is starting too, or an outage that is
 * about to end.
 */
const START_PATIENCE_MS = 30_000;
const RETRY_MS = 1_000;

/**
 * The database could not be reached for longer than a start waits. The message is for the operator; the cause says what
 * was tried last.
 */
export class DatabaseAwayError extends Error {
  override readonly name = 'DatabaseAwayError';

  constructor(waitedMs: number, cause: unknown) {
    super(`The database did not answer within ${Math.ceil(waitedMs / 1000)} seconds`, { cause });
  }
}

/**
 * Retries one step of a start while the database cannot be reached, for at most `patienceMs`. The step may have been
 * committed before it failed, so it must be safe to repeat. Throws {@link DatabaseAwayError} when the time is over, and
 * any other error at once. `onWait` is called once, when the wait begins.
 */
export async function waitForDatabase<T>(
  step: () => Promise<T>,
  onWait: (error: unknown) => void,
  patienceMs = START_PATIENCE_MS,
): Promise<T> {
  const started = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await step();
    } catch (error) {
      const fault = databaseFaultOf(error);
      if (fault !== 'unavailable' && fault !== 'lost') throw error;
      const waitedMs = performance.now() - started;
      if (waitedMs + RETRY_MS > patienceMs) throw new DatabaseAwayError(waitedMs, error);
      if (tries === 1) onWait(error);
      await sleep(RETRY_MS);
    }
  }
}
