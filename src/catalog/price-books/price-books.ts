import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { OnceAnHour } from '../../common/time/once-an-hour.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { ModelRow } from '../model-row.js';
import { bookedRow, factored, type PriceBookVersion, versionAt } from './price-book.js';
import { PriceBookRecords } from './price-book-records.js';

const POLL_INTERVAL_MS = 500;
/** A poll finds every change that was committed before it began. A change takes effect within 2 s. */
const FRESH_MS = 1_500;

/** The versions that are or will be in force, and the revision of all books at which they were read. */
interface Known {
  readonly revision: string;
  readonly versions: ReadonlyMap<string, readonly PriceBookVersion[]>;
}

/**
 * The prices that each account pays. It is the one place where a price comes from: whoever prices a call, a task or a list
 * takes the row of the account's price book from here. The books are in memory; twice a second one small read finds out
 * whether any has changed, in any process.
 */
@Injectable()
export class PriceBooks implements OnApplicationBootstrap {
  private readonly logger = new Logger(PriceBooks.name);
  private known: Known = { revision: '', versions: new Map() };
  private readAtMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;
  private readonly unfit = new OnceAnHour();
  /** Rows by version and by the row of the list, so that a row is made once until the book or the catalog changes. */
  private readonly rows = new WeakMap<PriceBookVersion, WeakMap<ModelRow, ModelRow>>();

  private readonly records: PriceBookRecords;

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
    private readonly scheduler: Scheduler,
  ) {
    this.records = new PriceBookRecords(dataSource);
  }

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'price-books',
      intervalMs: POLL_INTERVAL_MS,
      servesOwnCalls: true,
      // While the database cannot be reached, calls of accounts with a book read it themselves and report the outage.
      tick: () => this.read().catch(() => undefined),
    });
  }

  /**
   * Makes sure that what {@link rowFor} answers for this book is at most 2 s old. Undefined where nothing is to be
   * awaited, which is the rule. Throws the errors of the database.
   */
  refresh(bookId: string | undefined): Promise<void> | undefined {
    if (bookId === undefined) return undefined;
    const isFresh = this.clock.nowMs() - this.readAtMs < FRESH_MS;
    if (isFresh && this.known.versions.has(bookId)) return undefined;
    return (this.reading ??= this.read().finally(() => (this.reading = undefined)));
  }

  /** The version of a book in force now; undefined without a book, and before its first version begins. */
  inForce(bookId: string | undefined): PriceBookVersion | undefined {
    if (bookId === undefined) return undefined;
    return versionAt(this.known.versions.get(bookId) ?? [], this.clock.nowMs());
  }

  /** The row of a model at the prices of a version. A price of its own that no longer fits the model counts as absent. */
  rowFor<Row extends ModelRow>(row: Row, book: PriceBookVersion | undefined): Row {
    if (book === undefined) return row;
    let rows = this.rows.get(book);
    if (rows === undefined) this.rows.set(book, (rows = new WeakMap()));
    let priced = rows.get(row);
    if (priced === undefined) rows.set(row, (priced = this.made(row, book)));
    return priced as Row;
  }

  /** Reads the books if any has changed since the last time. */
  private async read(): Promise<void> {
    const startedMs = this.clock.nowMs();
    const revision = await this.records.revision();
    if (revision !== this.known.revision) {
      const versions = await this.records.currentVersions();
      this.known = { revision, versions: byBook(versions) };
    }
    this.readAtMs = startedMs;
  }

  private made(row: ModelRow, book: PriceBookVersion): ModelRow {
    try {
      return bookedRow(row, book);
    } catch (error) {
      if (this.unfit.isDue(`${book.bookId} ${row.id}`, this.clock.nowMs())) {
        this.logger.error(
          `the price of ${row.id} in price book ${book.bookId} does not fit the model, whose listed price times the factor is taken: ${(error as Error).message} (logged once an hour)`,
        );
      }
      return factored(row, book);
    }
  }
}

function byBook(versions: readonly PriceBookVersion[]): Map<string, PriceBookVersion[]> {
  const books = new Map<string, PriceBookVersion[]>();
  for (const version of versions) {
    const others = books.get(version.bookId);
    if (others) others.push(version);
    else books.set(version.bookId, [version]);
  }
  return books;
}
