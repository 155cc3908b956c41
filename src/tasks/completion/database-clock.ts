import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';

/**
 * The time at which a task ends. It is read from the clock of the database, as every other time of a task. Tasks that end
 * while a query is under way share the next query.
 */
export class DatabaseClock {
  #next: Promise<Date> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  /** The time, from a query that begins after this call. Throws the database's error. */
  now(): Promise<Date> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      const asked = this.ask();
      this.#last = asked.catch(() => undefined);
      return asked;
    });
    return this.#next;
  }

  private async ask(): Promise<Date> {
    const [row] = await this.dataSource.query<{ at: Date }[]>('SELECT clock_timestamp() AS at');
    assert(row, 'the database knows the time');
    return row.at;
  }
}
