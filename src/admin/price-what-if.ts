import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Catalog } from '../catalog/catalog.js';
import { PriceBookRecords } from '../catalog/price-books/price-book-records.js';
import { bookedRow, factored, type PriceBookVersion } from '../catalog/price-books/price-book.js';
import { repriced } from '../catalog/price-books/repriced-charge.js';
import type { ModelRow } from '../catalog/model-row.js';
import { RowFaults } from '../catalog/overlay-terms.js';
import type { AppliedPriceBook, ChargeBasis } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { DAY_MS } from '../common/time/spans.js';

/** Records that one statement reads. */
const PAGE_ROWS = 1_000;
/** The factor on a price of its own, and of calls without a book. */
const OWN_PRICE_PERMILLE = 1_000;

/**
 * The records by their ids, which begin with a time, and how long before its end one may have begun: a call takes at most a day,
 * a task that waits for an operator may take two months.
 */
const RECORDS = [
  { table: 'execution', longestMs: DAY_MS },
  { table: 'task', longestMs: 62 * DAY_MS },
] as const;

/**
 * The records of the next ids, from one that is after $1, before the first id of the time $2; one that was not charged from $3 to
 * $4 has no charge. A page is so many records, charged or not, so that no statement reads more.
 */
const pageOf = (table: string): string => `
  SELECT account_id, id, model, unit, quantity, unit_price, price_book,
         CASE WHEN status = 'succeeded' AND completed_at >= $3 AND completed_at < $4 THEN charged END AS charged
    FROM ${table} WHERE id > $1 AND id < first_id_since($2) ORDER BY id LIMIT ${PAGE_ROWS}`;
const FIRST_ID = 'SELECT first_id_since($1) AS id';
/** Ids before a time are those of `first_id_since` an hour later and one more, for clocks that differ. */
const CLOCKS_DIFFER_MS = 2 * 3_600_000;

interface ChargedRow {
  readonly account_id: string;
  readonly id: string;
  readonly model: string;
  readonly unit: ChargeBasis['unit'] | null;
  readonly quantity: ChargeBasis['quantity'] | null;
  readonly unit_price: ChargeBasis['unitPrice'] | null;
  readonly price_book: AppliedPriceBook | null;
  /** Null: not charged in the time. */
  readonly charged: string | null;
}
interface Charged extends ChargedRow {
  readonly charged: string;
}
interface RepricedRow extends Charged {
  readonly hadOwnPrice: boolean;
}

/** What an account paid in a time, and would have paid by a price book. */
export interface WouldPay {
  readonly accountId: string;
  readonly chargedMicroUsd: MicroUsd;
  readonly wouldChargeMicroUsd: MicroUsd;
}

/** Prices the calls and tasks of the past anew. Reads records in pages, so that no statement takes long. */
@Injectable()
export class PriceWhatIf {
  private readonly books: PriceBookRecords;

  constructor(
    private readonly dataSource: DataSource,
    private readonly catalog: Catalog,
  ) {
    this.books = new PriceBookRecords(dataSource);
  }

  /** What every account with charges in the time would have paid by the version; by account id. */
  async of(book: PriceBookVersion, from: Date, to: Date): Promise<WouldPay[]> {
    const sums = new Map<string, WouldPay>();
    const rows = new Map<string, ModelRow | undefined>();
    const ownPrices = new Map<string, boolean>();
    for (const { table, longestMs } of RECORDS) {
      for await (const row of this.charged(table, longestMs, from, to)) {
        const hadOwnPrice = await this.hadOwnPrice(row, ownPrices);
        add(sums, row, this.wouldCharge({ ...row, hadOwnPrice }, book, rows));
      }
    }
    return [...sums.values()].sort((one, other) => (one.accountId < other.accountId ? -1 : 1));
  }

  private async *charged(
    table: string,
    longestMs: number,
    from: Date,
    to: Date,
  ): AsyncGenerator<Charged> {
    // An id has no time before 1970.
    const first = new Date(Math.max(from.getTime() - longestMs, CLOCKS_DIFFER_MS));
    const [begin] = await this.dataSource.query<{ id: string }[]>(FIRST_ID, [first]);
    const end = new Date(to.getTime() + CLOCKS_DIFFER_MS);
    for (let after = begin?.id; after !== undefined;) {
      const page = await this.dataSource.query<ChargedRow[]>(pageOf(table), [after, end, from, to]);
      for (const row of page) if (isCharged(row)) yield row;
      after = page.length < PAGE_ROWS ? undefined : page.at(-1)?.id;
    }
  }

  /** Whether the record was priced by a price of its own in its book. A book whose factor is the whole says 1000 of both. */
  private async hadOwnPrice(
    { model, price_book: former }: Charged,
    known: Map<string, boolean>,
  ): Promise<boolean> {
    if (former?.factorPermille !== OWN_PRICE_PERMILLE) return false;
    const { id, version } = former;
    const key = `${id} ${version} ${model}`;
    const hadOwn = known.get(key) ?? !(await this.books.hasListedPrice(id, version, model));
    known.set(key, hadOwn);
    return hadOwn;
  }

  /** The charge itself where nothing tells how it came about, or the model is no longer sold. */
  private wouldCharge(
    row: RepricedRow,
    book: PriceBookVersion,
    rows: Map<string, ModelRow | undefined>,
  ): MicroUsd {
    const chargedMicroUsd = BigInt(row.charged);
    const { unit, quantity, unit_price: unitPrice, price_book: former, hadOwnPrice } = row;
    const listed = this.catalog.find(row.model);
    if (unit === null || quantity === null || unitPrice === null || !listed) return chargedMicroUsd;
    if (!rows.has(row.model)) rows.set(row.model, bookedOf(listed, book));
    const booked = rows.get(row.model) ?? listed;
    const factorPermille = BigInt(former?.factorPermille ?? OWN_PRICE_PERMILLE);
    const basis = { unit, quantity, unitPrice, isEstimated: false };
    return repriced({ basis, factorPermille, hadOwnPrice, chargedMicroUsd }, listed, booked);
  }
}

/** As calls are priced: a price that no longer fits its model counts as absent. */
function bookedOf(listed: ModelRow, book: PriceBookVersion): ModelRow {
  try {
    return bookedRow(listed, book);
  } catch (error) {
    if (error instanceof RowFaults) return factored(listed, book);
    throw error;
  }
}

const isCharged = (row: ChargedRow): row is Charged => row.charged !== null;

function add(sums: Map<string, WouldPay>, row: Charged, wouldCharge: MicroUsd): void {
  const { account_id: accountId } = row;
  const sum = sums.get(accountId);
  sums.set(accountId, {
    accountId,
    chargedMicroUsd: (sum?.chargedMicroUsd ?? 0n) + BigInt(row.charged),
    wouldChargeMicroUsd: (sum?.wouldChargeMicroUsd ?? 0n) + wouldCharge,
  });
}
