import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { transaction } from '../../platform/database/transaction.js';
import { type BookedModel, type PriceBookVersion, versionAt } from './price-book.js';
import { PriceBookRecords } from './price-book-records.js';

/** Most price books of a gateway: every process has them all in memory. */
export const MAX_PRICE_BOOKS = 1_000;
/** Most versions of a book that have not begun. */
export const MAX_PLANNED_VERSIONS = 20;

/** A price book as operators see it. */
export interface PriceBook {
  readonly id: string;
  /** The version in force or, before the first one begins, that one. */
  readonly current: PriceBookVersion;
  /** The number of the version that was written last, whether it is in force, planned or past. */
  readonly newestVersion: number;
  /** The versions that begin later. */
  readonly planned: readonly PriceBookVersion[];
  /** Number of accounts that have it. */
  readonly accounts: number;
}

/** What a version says. */
export interface PriceBookTerms {
  readonly factorPermille: number;
  readonly models: readonly BookedModel[];
  /** From when on; the present where it is past or absent. */
  readonly validFrom?: Date | undefined;
}

const INSERT_VERSION = `
  INSERT INTO price_book_version (book_id, version, factor_permille, models, valid_from)
    SELECT $1::text, coalesce(max(version), 0) + 1, $2::integer, $3::jsonb, greatest($4::timestamptz, clock_timestamp())
      FROM price_book_version WHERE book_id = $1`;

/** Creates, changes, deletes and lists price books. Every process sees a change within 2 s. */
@Injectable()
export class PriceBookStore {
  private readonly records: PriceBookRecords;

  constructor(private readonly dataSource: DataSource) {
    this.records = new PriceBookRecords(dataSource);
  }

  /** A new book. Throws 409 conflict where the id is taken, or there are too many. */
  create(id: string, terms: PriceBookTerms): Promise<PriceBook> {
    return this.change(async (manager) => {
      const [row] = await manager.query<{ count: number; taken: boolean }[]>(
        `SELECT count(*)::int AS count, coalesce(bool_or(id = $1), false) AS taken FROM price_book`,
        [id],
      );
      if (row?.taken) throw new GatewayError('conflict', 'A price book has this id.', PARAM);
      if ((row?.count ?? 0) >= MAX_PRICE_BOOKS) {
        throw new GatewayError('conflict', `There are ${MAX_PRICE_BOOKS} price books, the most.`);
      }
      await manager.query('INSERT INTO price_book (id) VALUES ($1)', [id]);
      await write(manager, id, terms);
      return this.found(id, manager);
    });
  }

  /**
   * A new version of a book. Throws 404 not_found, and 409 conflict for too many that have not begun, and where the newest
   * version is not the one that the caller has seen.
   */
  replace(id: string, terms: PriceBookTerms, seenVersion?: number): Promise<PriceBook> {
    return this.change(async (manager) => {
      const { planned, newestVersion } = await this.found(id, manager);
      if (seenVersion !== undefined && seenVersion !== newestVersion) {
        const message = `The newest version of the price book is ${newestVersion}, not ${seenVersion}. Read it before you replace it.`;
        throw new GatewayError('conflict', message, { param: 'replaces_version' });
      }
      if (planned.length >= MAX_PLANNED_VERSIONS) {
        const message = `${MAX_PLANNED_VERSIONS} versions of the price book have not begun, the most.`;
        throw new GatewayError('conflict', message);
      }
      await write(manager, id, terms);
      return this.found(id, manager);
    });
  }

  /** Throws 404 not_found, and 409 conflict where an account has the book. Its versions stay, for calls and tasks name them. */
  delete(id: string): Promise<void> {
    return this.change(async (manager) => {
      // Whoever gives the book to an account locks its row first.
      await manager.query('SELECT FROM price_book WHERE id = $1 FOR UPDATE', [id]);
      const { accounts } = await this.found(id, manager);
      if (accounts > 0) {
        const message = `${accounts} ${accounts === 1 ? 'account has' : 'accounts have'} the price book. PATCH /admin/accounts/{id} gives another one, or null.`;
        throw new GatewayError('conflict', message, PARAM);
      }
      await manager.query('DELETE FROM price_book WHERE id = $1', [id]);
    });
  }

  /** Throws 404 not_found. */
  get(id: string): Promise<PriceBook> {
    return this.found(id, this.dataSource);
  }

  /** Books by id, behind the one of `after`. */
  async list(after: string | null, limit: number): Promise<PriceBook[]> {
    const rows = await this.dataSource.query<{ readonly id: string }[]>(
      `SELECT id FROM price_book WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2`,
      [after, limit],
    );
    return this.books(
      rows.map(({ id }) => id),
      this.dataSource,
    );
  }

  /** Runs the change alone, one after the other, and counts up the revision of all books. */
  private change<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return transaction(this.dataSource, async (manager) => {
      await manager.query('UPDATE price_book_revision SET revision = revision + 1');
      return work(manager);
    });
  }

  private async found(id: string, manager: Pick<EntityManager, 'query'>): Promise<PriceBook> {
    const [book] = await this.books([id], manager);
    if (book === undefined) throw new GatewayError('not_found', 'No such price book.', PARAM);
    return book;
  }

  private async books(
    ids: readonly string[],
    manager: Pick<EntityManager, 'query'>,
  ): Promise<PriceBook[]> {
    const versions = await this.records.currentVersions(ids, manager);
    const counts = await manager.query<{ readonly id: string; readonly count: number }[]>(
      `SELECT price_book AS id, count(*)::int AS count FROM account WHERE price_book = ANY ($1) GROUP BY 1`,
      [ids],
    );
    const newest = await manager.query<{ readonly id: string; readonly version: number }[]>(
      `SELECT book_id AS id, max(version) AS version FROM price_book_version WHERE book_id = ANY ($1) GROUP BY 1`,
      [ids],
    );
    const [time] = await manager.query<{ readonly now: Date }[]>('SELECT clock_timestamp() AS now');
    const nowMs = time?.now.getTime() ?? 0;
    return ids.flatMap((id) => {
      const own = versions.filter(({ bookId }) => bookId === id);
      const current = versionAt(own, nowMs) ?? own[0];
      if (current === undefined) return [];
      const planned = own.filter((each) => each !== current);
      const accounts = counts.find((row) => row.id === id)?.count ?? 0;
      const newestVersion = newest.find((row) => row.id === id)?.version ?? current.version;
      return [{ id, current, newestVersion, planned, accounts }];
    });
  }
}

const PARAM = { param: 'id' } as const;

async function write(
  manager: EntityManager,
  id: string,
  { factorPermille, models, validFrom }: PriceBookTerms,
): Promise<void> {
  const values = [id, factorPermille, JSON.stringify(models), validFrom ?? null];
  await manager.query(INSERT_VERSION, values);
}
