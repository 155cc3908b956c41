import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';

/**
 * Reads the database's time, for the end of a task; all times of a task are the database's. Tasks that end while a query is
 * running share the next query.
 */
export class DatabaseClock {
  private next: Promise<Date> | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  /** The time from a query that begins after this call. Throws the database's error. */
  now(): Promise<Date> {
    this.next ??= this.last.then(() => {
      this.next = undefined;
      const reading = this.read();
      this.last = reading.catch(() => undefined);
      return reading;
    });
    return this.next;
  }

  private async read(): Promise<Date> {
    const [row] = await this.dataSource.query<{ at: Date }[]>('SELECT clock_timestamp() AS at');
    assert(row, 'SELECT clock_timestamp() returned no row');
    return row.at;
  }
}
