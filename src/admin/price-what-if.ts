import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Catalog } from '../catalog/catalog.js';
import { bookedRow, factored, type PriceBookVersion } from '../catalog/price-books/price-book.js';
import { repriced } from '../catalog/price-books/repriced-charge.js';
import type { ModelRow } from '../catalog/model-row.js';
import { RowFaults } from '../catalog/overlay-terms.js';
import type { AppliedPriceBook, ChargeBasis } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';

/** Records that one statement reads. */
const PAGE_ROWS = 5_000;
/** The factor on a price of its own, and of calls without a book. */
const OWN_PRICE_PERMILLE = 1_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Calls and tasks that were charged in a time, of every account, by account and id. Ids begin with a time, so those that
 * ended in the time are not read beyond it; a task may take a month.
 */
const CHARGED = `
  SELECT * FROM (
    (SELECT account_id, id, model, unit, quantity, unit_price, price_book, charged FROM execution
      WHERE (account_id, id) > ($3, $4) AND status = 'succeeded' AND completed_at >= $1 AND completed_at < $2
      ORDER BY account_id, id LIMIT ${PAGE_ROWS})
    UNION ALL
    (SELECT account_id, id, model, unit, quantity, unit_price, price_book, charged FROM task
      WHERE (account_id, id) > ($3, $4) AND status = 'succeeded' AND completed_at >= $1 AND completed_at < $2
      ORDER BY account_id, id LIMIT ${PAGE_ROWS})) c
   ORDER BY account_id, id LIMIT ${PAGE_ROWS}`;

interface ChargedRow {
  readonly account_id: string;
  readonly id: string;
  readonly model: string;
  readonly unit: ChargeBasis['unit'] | null;
  readonly quantity: ChargeBasis['quantity'] | null;
  readonly unit_price: ChargeBasis['unitPrice'] | null;
  readonly price_book: AppliedPriceBook | null;
  readonly charged: string;
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
  constructor(
    private readonly dataSource: DataSource,
    private readonly catalog: Catalog,
  ) {}

  /** What every account with charges in the time would have paid by the version; by account id. */
  async of(book: PriceBookVersion, from: Date, to: Date): Promise<WouldPay[]> {
    const sums = new Map<string, WouldPay>();
    const rows = new Map<string, ModelRow | undefined>();
    for (let after = [FIRST_ID, FIRST_ID]; ;) {
      const page = await this.dataSource.query<ChargedRow[]>(CHARGED, [from, to, ...after]);
      for (const row of page) add(sums, row, this.wouldCharge(row, book, rows));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_ROWS) return [...sums.values()];
      after = [last.account_id, last.id];
    }
  }

  /** The charge itself where nothing tells how it came about, or the model is no longer sold. */
  private wouldCharge(
    row: ChargedRow,
    book: PriceBookVersion,
    rows: Map<string, ModelRow | undefined>,
  ): MicroUsd {
    const chargedMicroUsd = BigInt(row.charged);
    const { unit, quantity, unit_price: unitPrice, price_book: former } = row;
    const listed = this.catalog.find(row.model);
    if (unit === null || quantity === null || unitPrice === null || !listed) return chargedMicroUsd;
    if (!rows.has(row.model)) rows.set(row.model, bookedOf(listed, book));
    const booked = rows.get(row.model) ?? listed;
    const factorPermille = BigInt(former?.factorPermille ?? OWN_PRICE_PERMILLE);
    const basis = { unit, quantity, unitPrice, isEstimated: false };
    const hadOwnPrice = former?.factorPermille === OWN_PRICE_PERMILLE;
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

function add(sums: Map<string, WouldPay>, row: ChargedRow, wouldCharge: MicroUsd): void {
  const { account_id: accountId } = row;
  const sum = sums.get(accountId);
  sums.set(accountId, {
    accountId,
    chargedMicroUsd: (sum?.chargedMicroUsd ?? 0n) + BigInt(row.charged),
    wouldChargeMicroUsd: (sum?.wouldChargeMicroUsd ?? 0n) + wouldCharge,
  });
}
