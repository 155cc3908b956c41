import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';

/**
 * The time at which a task ends, by the clock of the database, as every other time of a task is. Ends that ask meanwhile
 * share the next look.
 */
export class EndTimes {
  #next: Promise<Date> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  /** A time that is read after this call. Throws the database's error. */
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
