import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { StatementBatcher } from '../../platform/database/batching/statement-batcher.js';

/** Most tasks that share a reading. */
const MAX_BATCH = 256;

/**
 * Reads the database's time, for the end of a task; all times of a task are the database's. Tasks that end while a query is
 * running share the next query.
 */
export class DatabaseClock {
  private readonly readings = new StatementBatcher<undefined, Date>({
    execute: async (calls) => {
      const at = await this.read();
      return calls.map(() => at);
    },
    groupOf: () => '',
    maxBatch: MAX_BATCH,
  });

  constructor(private readonly dataSource: DataSource) {}

  /** The time from a query that begins after this call. Throws the database's error. */
  now(): Promise<Date> {
    return this.readings.run(undefined);
  }

  private async read(): Promise<Date> {
    const [row] = await this.dataSource.query<{ at: Date }[]>('SELECT clock_timestamp() AS at');
    assert(row, 'SELECT clock_timestamp() returned no row');
    return row.at;
  }
}
