import type { DataSource, EntityManager } from 'typeorm';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { BookedModel, PriceBookVersion } from './price-book.js';

const REVISION = 'SELECT revision FROM price_book_revision';
/** Of each book the version in force and all that begin later; of one book where it is named. */
const CURRENT = `
  SELECT v.* FROM price_book b
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT * FROM price_book_version v WHERE v.book_id = b.id AND valid_from <= statement_timestamp()
       ORDER BY valid_from DESC, version DESC LIMIT 1) in_force
    UNION ALL
    SELECT * FROM price_book_version v WHERE v.book_id = b.id AND valid_from > statement_timestamp()) v
   WHERE $1::text[] IS NULL OR b.id = ANY ($1)
   ORDER BY b.id, v.valid_from, v.version`;

const HAS_LISTED_PRICE = `
  SELECT FROM price_book_version WHERE book_id = $1 AND version = $2 AND factor_permille = 1000
    AND NOT models @> jsonb_build_array(jsonb_build_object('id', $3::text))`;

interface VersionRow {
  readonly book_id: string;
  readonly version: number;
  readonly factor_permille: number;
  readonly models: readonly BookedModel[];
  readonly valid_from: Date;
  readonly created_at: Date;
}

/** Reads price books. */
export class PriceBookRecords {
  private readonly revisions: PreparedStatement<{ readonly revision: string }>;

  constructor(private readonly dataSource: DataSource) {
    this.revisions = new PreparedStatement(dataSource, 'price_book_revision', REVISION);
  }

  /** Another text after each change of any book. */
  async revision(): Promise<string> {
    const [row] = await this.revisions.run([]);
    return row?.revision ?? '';
  }

  /** The versions that are in force or will be, by the time from which they are; of all books, or of some. */
  async currentVersions(
    bookIds: readonly string[] | null = null,
    manager: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<PriceBookVersion[]> {
    return (await manager.query<VersionRow[]>(CURRENT, [bookIds])).map(versionOf);
  }

  /**
   * Whether a version, which may be of a book that was deleted, sells the model at the listed price. False too where the version is not
   * known here, as that of an account which came from another cell, or says something else than the record did.
   */
  async hasListedPrice(bookId: string, version: number, model: string): Promise<boolean> {
    const values = [bookId, version, model];
    return (await this.dataSource.query<unknown[]>(HAS_LISTED_PRICE, values)).length > 0;
  }
}

function versionOf(row: VersionRow): PriceBookVersion {
  return {
    bookId: row.book_id,
    version: row.version,
    factorPermille: row.factor_permille,
    models: row.models,
    validFrom: row.valid_from,
    createdAt: row.created_at,
  };
}
