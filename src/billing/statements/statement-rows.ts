import type { CreditTerms } from '../credit-terms.js';
import type { LedgerEntry } from '../ledger-entry.js';
import { viewOwnEntry } from '../ledger/ledger-entry.view.js';
import { type CsvValue, csvOf } from '../../common/csv.js';
import { formatMicroUsd, type MicroUsd } from '../../common/money/micro-usd.js';
import { usdText } from '../../common/money/usd-text.js';
import { TOKEN_SUMS } from '../token-sums.js';
import type { EntrySum, ModelCharge, StatementPart, Statement } from './statement.js';
import { statementNumber } from './statement.view.js';

/** What a line of a statement is. */
export type StatementLine =
  'opening' | 'credit' | 'correction' | 'charge' | 'refund' | 'expiry' | 'closing' | 'held';

/** One line of a statement, as CSV and the printable page have it. */
export interface StatementRow {
  readonly line: StatementLine;
  /** Signed: the lines from `opening` on add up to `closing`. */
  readonly amountMicroUsd: MicroUsd;
  readonly charge?: ModelCharge;
  readonly entry?: LedgerEntry;
  /** So many further entries, in one line. */
  readonly further?: number;
}

/** Lines of a statement that follow each other; of a part that is entries those that it lists. */
interface Section {
  readonly rows: readonly StatementRow[];
  readonly part?: { readonly line: StatementLine; readonly name: StatementPart };
}

/** The sections of a statement in order. What is held is told behind the closing balance, of which it is a part. */
function sectionsOf(statement: Statement): Section[] {
  const { heldMicroUsd } = statement;
  const entries = (line: StatementLine, name: StatementPart): Section => ({
    rows: entryRows(line, statement[name].entries),
    part: { line, name },
  });
  const charges = statement.charges.map((charge) => ({
    line: 'charge' as const,
    amountMicroUsd: -charge.amountMicroUsd,
    charge,
  }));
  return [
    { rows: [{ line: 'opening', amountMicroUsd: statement.openingMicroUsd }] },
    entries('credit', 'credits'),
    entries('correction', 'corrections'),
    { rows: charges },
    entries('refund', 'refunds'),
    entries('expiry', 'expiries'),
    { rows: [{ line: 'closing', amountMicroUsd: statement.closingMicroUsd }] },
    { rows: heldMicroUsd === null ? [] : [{ line: 'held', amountMicroUsd: heldMicroUsd }] },
  ];
}

function entryRows(line: StatementLine, entries: readonly LedgerEntry[]): StatementRow[] {
  return entries.map((entry) => ({ line, amountMicroUsd: entry.amountMicroUsd, entry }));
}

/** The lines of a statement in order; the entries of a part that it does not list are one line. */
export function rowsOf(statement: Statement): StatementRow[] {
  return sectionsOf(statement).flatMap(({ rows, part }) =>
    part === undefined ? rows : [...rows, ...unlistedRow(part.line, statement[part.name])],
  );
}

function unlistedRow(line: StatementLine, sum: EntrySum): StatementRow[] {
  const { entries, count, totalMicroUsd } = sum;
  if (count === entries.length) return [];
  const rest = entries.reduce((left, { amountMicroUsd }) => left - amountMicroUsd, totalMicroUsd);
  return [{ line, amountMicroUsd: rest, further: count - entries.length }];
}

/** All lines of a statement in order, a page after the other. `unlisted` reads the entries of a part that it does not list. */
export async function* pagesOfRows(
  statement: Statement,
  unlisted: (part: StatementPart) => AsyncIterable<readonly LedgerEntry[]>,
): AsyncGenerator<readonly StatementRow[]> {
  for (const { rows, part } of sectionsOf(statement)) {
    yield rows;
    if (part === undefined) continue;
    for await (const entries of unlisted(part.name)) yield entryRows(part.line, entries);
  }
}

const NAMES = [
  'number',
  'line',
  'created_at',
  'id',
  'reference',
  'reason',
  'model',
  'calls',
  ...TOKEN_SUMS,
  'quantity',
  'unit',
  'credit_kind',
  'expires_at',
  'payment_reference',
  'currency',
  'tax_microusd',
  'amount_microusd',
  'amount_usd',
] as const;
type Name = (typeof NAMES)[number];

/** The lines as CSV: the amounts of all from `opening` on add up to that of `closing`. */
export function csvOfRows(statement: Statement, lines: readonly StatementRow[]): string {
  const number = statementNumber(statement);
  const rows = lines.map((row): Readonly<Partial<Record<Name, CsvValue>>> => ({
    number,
    line: row.line,
    ...cellsOfEntry(row.entry),
    ...cellsOfCharge(row.charge),
    amount_microusd: formatMicroUsd(row.amountMicroUsd),
    amount_usd: usdText(row.amountMicroUsd),
  }));
  return csvOf(
    NAMES,
    rows.map((row) => NAMES.map((name) => row[name])),
  );
}

function cellsOfEntry(entry: LedgerEntry | undefined) {
  if (entry === undefined) return {};
  const { id, reference, reason } = viewOwnEntry(entry);
  const created = { id, reference, reason, created_at: entry.createdAt.toISOString() };
  return { ...created, ...(entry.terms && cellsOfTerms(entry.terms)) };
}

function cellsOfTerms({ kind, expiresAt, paymentReference, currency, taxMicroUsd }: CreditTerms) {
  return {
    credit_kind: kind,
    expires_at: expiresAt?.toISOString() ?? null,
    payment_reference: paymentReference,
    currency,
    tax_microusd: taxMicroUsd === null ? null : formatMicroUsd(taxMicroUsd),
  };
}

function cellsOfCharge(charge: ModelCharge | undefined) {
  if (charge === undefined) return {};
  const { model, calls, tokens, quantity, unit } = charge;
  return { model, calls, ...tokens, quantity, unit };
}
