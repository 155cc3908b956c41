import { ApiProperty } from '@nestjs/swagger';
import { type CsvValue, csvOf } from '../../common/csv.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { usdText } from '../../common/money/usd-text.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import { CREDIT_KINDS, type CreditKind } from '../credit-terms.js';
import {
  CORRECTION_KINDS,
  type CorrectionKind,
  correctionKindOf,
  ENTRY_KINDS,
  type LedgerEntry,
  REFUND_REASONS,
  type RefundReason,
} from '../ledger-entry.js';

/** One movement of an account's money, as its holder sees it: without the notes and keys of operators. */
export class OwnLedgerEntryView {
  @ApiProperty({
    example: 'entry_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the entry',
  })
  id!: string;

  @ApiProperty({ enum: ['ledger_entry'], description: 'Says what kind of object this is' })
  object!: 'ledger_entry';

  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the account',
  })
  account_id!: string;

  @ApiProperty({
    enum: ENTRY_KINDS,
    description:
      '`credit` (money came in), `charge` (a call or task was paid), `correction` (set right or given back) or `expiry` (what was left of a credit ended)',
  })
  kind!: LedgerEntry['kind'];

  @ApiProperty({
    nullable: true,
    type: String,
    enum: CORRECTION_KINDS,
    description:
      'Of a correction: refund (an operator gave a charge back), reversal (an error did), adjustment (an operator set the balance right); else null',
  })
  correction_kind!: CorrectionKind | null;

  @ApiProperty({ example: '-600', description: 'Micro-USD; a charge is negative' })
  amount_microusd!: string;

  @ApiProperty({
    example: '-600',
    description:
      'The part of the amount that is granted money, with its sign; the rest is paid money',
  })
  granted_microusd!: string;

  @ApiProperty({ example: '4999400', description: 'Micro-USD after this entry' })
  balance_after_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description:
      'The execution or task that it charged or gave back, the credit that expired; else null',
  })
  reference!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    enum: REFUND_REASONS,
    description: 'Why an operator refunded or corrected; null where none was told',
  })
  reason!: RefundReason | null;

  @ApiProperty({
    nullable: true,
    type: String,
    enum: CREDIT_KINDS,
    description: 'Of a credit: `paid` or `granted`; else null',
  })
  credit_kind!: CreditKind | null;

  @ApiProperty({
    nullable: true,
    type: Number,
    description: 'Of a credit that expires: when, in epoch seconds; else null',
  })
  expires_at!: number | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'invoice 17',
    description: 'Of a credit: what the payment is called elsewhere; null where none was told',
  })
  payment_reference!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'EUR',
    description: 'Of a credit: the currency that was paid in; null where none was told',
  })
  currency!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '950000',
    description: 'Of a credit: micro-USD of tax in what was paid; null where none was told',
  })
  tax_microusd!: string | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** A page of the ledger as the holder of the account sees it. */
export class OwnLedgerEntryPage extends pageOfViews(OwnLedgerEntryView) {}

/** The entry. Its reference is the execution or task that was charged or given back, by the owner of its hold, or the expired credit. */
export function viewOwnEntry(entry: LedgerEntry): OwnLedgerEntryView {
  return {
    id: toPublicId('entry', entry.id),
    object: 'ledger_entry',
    account_id: toPublicId('acct', entry.accountId),
    kind: entry.kind,
    correction_kind: correctionKindOf(entry),
    amount_microusd: formatMicroUsd(entry.amountMicroUsd),
    granted_microusd: formatMicroUsd(entry.grantedMicroUsd),
    balance_after_microusd: formatMicroUsd(entry.balanceAfterMicroUsd),
    reference: referenceOf(entry),
    reason: entry.reason,
    ...viewTerms(entry),
    created_at: toEpochSeconds(entry.createdAt),
  };
}

/** Only a credit has terms. */
const NO_TERMS = {
  credit_kind: null,
  expires_at: null,
  payment_reference: null,
  currency: null,
  tax_microusd: null,
};

function viewTerms({ terms }: LedgerEntry) {
  if (!terms) return NO_TERMS;
  const { kind, expiresAt, paymentReference, currency, taxMicroUsd } = terms;
  return {
    credit_kind: kind,
    expires_at: expiresAt && toEpochSeconds(expiresAt),
    payment_reference: paymentReference,
    currency,
    tax_microusd: taxMicroUsd === null ? null : formatMicroUsd(taxMicroUsd),
  };
}

function referenceOf({ holdId, holdOwner, expiredEntryId }: LedgerEntry): string | null {
  if (expiredEntryId !== null) return toPublicId('entry', expiredEntryId);
  if (holdId === null) return null;
  return toPublicId(holdOwner === 'task' ? 'task' : 'exec', holdId);
}

/** What a line of a ledger's CSV may have besides the fields of the JSON. */
interface EntryCells {
  readonly account_name: string | undefined;
  readonly amount_usd: string;
  readonly balance_after_usd: string;
  readonly granted_usd: string;
  readonly tax_usd: string | null;
}

/** Entries as CSV: these fields of their JSON, times in ISO 8601, with the account's name and amounts in USD. */
export function entriesAsCsv<View extends object>(
  entries: readonly LedgerEntry[],
  view: (entry: LedgerEntry) => View,
  names: readonly (keyof (View & EntryCells) & string)[],
): string {
  const rows = entries.map((entry) => {
    const row: Readonly<Record<string, CsvValue>> = {
      ...view(entry),
      created_at: entry.createdAt.toISOString(),
      account_name: entry.accountName,
      amount_usd: usdText(entry.amountMicroUsd),
      balance_after_usd: usdText(entry.balanceAfterMicroUsd),
      granted_usd: usdText(entry.grantedMicroUsd),
      expires_at: entry.terms?.expiresAt?.toISOString() ?? null,
      tax_usd: taxUsdOf(entry),
    };
    return names.map((name) => row[name]);
  });
  return csvOf(names, rows);
}

function taxUsdOf({ terms }: LedgerEntry): string | null {
  const tax = terms?.taxMicroUsd ?? null;
  return tax === null ? null : usdText(tax);
}

/** The last columns of every CSV of entries. */
export const KIND_COLUMNS = [
  'granted_microusd',
  'granted_usd',
  'credit_kind',
  'expires_at',
  'payment_reference',
  'currency',
  'tax_microusd',
  'tax_usd',
] as const;

const CSV_NAMES = [
  'id',
  'created_at',
  'account_id',
  'kind',
  'correction_kind',
  'amount_microusd',
  'amount_usd',
  'balance_after_microusd',
  'balance_after_usd',
  'reference',
  'reason',
  ...KIND_COLUMNS,
] as const;

/** The holder's own entries as CSV. */
export const csvOfOwnEntries = (entries: readonly LedgerEntry[]): string =>
  entriesAsCsv(entries, viewOwnEntry, CSV_NAMES);
