import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptRecord } from './delivery-statements.js';

/** Most attempts in one statement. */
const MAX_BATCH = 256;
const RETRY_MS = 250;
const TRIES = 40;

interface Waiting {
  readonly record: AttemptRecord;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches the records of attempts: one statement runs, and the next has all attempts that ended in the meantime. A failed
 * statement is retried for ten seconds.
 */
export class AttemptBatcher {
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(private readonly write: (records: readonly AttemptRecord[]) => Promise<void>) {}

  /** Resolves once the attempt is durable. Throws the database's error when the database cannot be reached. */
  record(record: AttemptRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        await this.#persist(batch.map(({ record }) => record));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #persist(records: readonly AttemptRecord[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.write(records);
        return;
      } catch (error) {
        if (attempt === TRIES) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}
