import type { ModelRow } from '../model-row.js';
import type { OverlayModel } from '../overlay.dto.js';
import { overlaidRow } from '../overlay-rows.js';
import { WHOLE_PERMILLE } from '../../common/money/price-lines.js';

/** The price of one model in a book, as the file of the catalog has it. */
export type BookedModel = Required<Pick<OverlayModel, 'id' | 'price'>>;

/** What a price book says from a time on. Written once and never changed. */
export interface PriceBookVersion {
  readonly bookId: string;
  readonly version: number;
  /** The part of an amount that is paid, in thousandths, for models that are not in `models` (decision G-30). */
  readonly factorPermille: number;
  /** Models with prices of their own. The factor does not touch them. */
  readonly models: readonly BookedModel[];
  readonly validFrom: Date;
  readonly createdAt: Date;
}

/** The version in force at a time: of those that have begun, the one that began last; undefined before the first. */
export function versionAt(
  versions: readonly PriceBookVersion[],
  nowMs: number,
): PriceBookVersion | undefined {
  let found: PriceBookVersion | undefined;
  for (const each of versions) {
    if (each.validFrom.getTime() > nowMs) continue;
    if (found === undefined || isAfter(each, found)) found = each;
  }
  return found;
}

/** Whether a version replaces another once it has begun. Of two that begin together, the later one does. */
function isAfter(one: PriceBookVersion, other: PriceBookVersion): boolean {
  const apart = one.validFrom.getTime() - other.validFrom.getTime();
  return apart === 0 ? one.version > other.version : apart > 0;
}

/**
 * The row of a model at the prices of a book: its own price there, else the listed one times the factor. Throws
 * `RowFaults` when the book's price does not fit the model.
 */
export function bookedRow(row: ModelRow, book: PriceBookVersion): ModelRow {
  const own = book.models.find(({ id }) => id === row.id);
  return own ? ownPriced(row, own, book) : factored(row, book);
}

/** The listed price of a row, times the factor of a book. */
export function factored(row: ModelRow, { bookId, version, factorPermille }: PriceBookVersion) {
  const price = { ...row.price, factorPermille: BigInt(factorPermille) };
  return { ...row, price, priceBook: { id: bookId, version, factorPermille } } as ModelRow;
}

/** The price of a book's entry for the model of a row. Throws `RowFaults` when it does not fit. */
export function priceInBook(row: ModelRow, own: BookedModel): ModelRow['price'] {
  return overlaidRow(own, row).price;
}

function ownPriced(row: ModelRow, own: BookedModel, { bookId, version }: PriceBookVersion) {
  const price = priceInBook(row, own);
  const factorPermille = Number(WHOLE_PERMILLE);
  return { ...row, price, priceBook: { id: bookId, version, factorPermille } } as ModelRow;
}
