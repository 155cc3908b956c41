import type { CreditTerms } from '../credit-terms.js';
import type { LedgerEntry } from '../ledger-entry.js';
import { viewOwnEntry } from '../ledger/ledger-entry.view.js';
import { type CsvValue, csvOf } from '../../common/csv.js';
import { formatMicroUsd, type MicroUsd } from '../../common/money/micro-usd.js';
import { usdText } from '../../common/money/usd-text.js';
import { TOKEN_SUMS } from '../token-sums.js';
import type { EntrySum, ModelCharge, Statement } from './statement.js';
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

/** The lines of a statement in order. What is held is told behind the closing balance, of which it is a part. */
export function rowsOf(statement: Statement): StatementRow[] {
  const { heldMicroUsd } = statement;
  return [
    { line: 'opening', amountMicroUsd: statement.openingMicroUsd },
    ...entryRows('credit', statement.credits),
    ...entryRows('correction', statement.corrections),
    ...statement.charges.map((charge) => ({
      line: 'charge' as const,
      amountMicroUsd: -charge.amountMicroUsd,
      charge,
    })),
    ...entryRows('refund', statement.refunds),
    ...entryRows('expiry', statement.expiries),
    { line: 'closing', amountMicroUsd: statement.closingMicroUsd },
    ...(heldMicroUsd === null ? [] : [{ line: 'held', amountMicroUsd: heldMicroUsd } as const]),
  ];
}

function entryRows(line: StatementLine, { entries, count, totalMicroUsd }: EntrySum) {
  const rows: StatementRow[] = entries.map((entry) => ({
    line,
    amountMicroUsd: entry.amountMicroUsd,
    entry,
  }));
  if (count === entries.length) return rows;
  const rest = entries.reduce((left, { amountMicroUsd }) => left - amountMicroUsd, totalMicroUsd);
  return [...rows, { line, amountMicroUsd: rest, further: count - entries.length }];
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

/** The statement as CSV: the amounts from `opening` on add up to that of `closing`. */
export function csvOfStatement(statement: Statement): string {
  const number = statementNumber(statement);
  const rows = rowsOf(statement).map((row): Readonly<Partial<Record<Name, CsvValue>>> => ({
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
