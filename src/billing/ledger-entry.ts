import type { MicroUsd } from '../common/money/micro-usd.js';
import type { CreditKind, CreditTerms } from './credit-terms.js';

/** `expiry` is what was left of a credit at its end. */
export const ENTRY_KINDS = ['credit', 'correction', 'charge', 'expiry'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** One movement of an account's money; never changed, never deleted. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: string;
  readonly accountName?: string | undefined;
  readonly kind: EntryKind;
  /** Signed: a charge is negative. */
  readonly amountMicroUsd: MicroUsd;
  /** The part of the amount that is granted money, with the same sign; the rest is paid money. */
  readonly grantedMicroUsd: MicroUsd;
  /** Sum of the account's entries up to and including this one. */
  readonly balanceAfterMicroUsd: MicroUsd;
  /** Of a credit; else null. */
  readonly terms: CreditTerms | null;
  /** Id of the credit that expired; null unless it is an expiry. */
  readonly expiredEntryId: string | null;
  /** The hold a charge settled. */
  readonly holdId: string | null;
  /** What that hold was for: `execution` or `task`. */
  readonly holdOwner: string | null;
  /** A note of the operator, or `reversal` where an error gave a charge back. */
  readonly reference: string | null;
  /** Why an operator refunded or corrected; null where none was told. */
  readonly reason: RefundReason | null;
  /** The key with which an operator wrote it: of a credit or a refund. */
  readonly idempotencyKey: string | null;
  readonly createdAt: Date;
  /** True where a request only found the entry that one with the same key had made before. */
  readonly isReplay?: true;
}

/** Why a correction was made: by an operator's refund, by a reversal after an error, or by an operator who names no call. */
export const CORRECTION_KINDS = ['refund', 'reversal', 'adjustment'] as const;
export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

/** Why an operator gives money back or sets a balance right: good will, work that was bad or did not arrive, or a wrong bill. */
export const REFUND_REASONS = ['goodwill', 'fault', 'billing_error'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** What the schema writes as the note of a reversal, which has no key. */
export const REVERSAL = 'reversal';

/** Kind of the correction; null for any other entry. */
export function correctionKindOf(entry: LedgerEntry): CorrectionKind | null {
  if (entry.kind !== 'correction') return null;
  if (entry.holdId === null) return 'adjustment';
  return entry.reference === REVERSAL && entry.idempotencyKey === null ? 'reversal' : 'refund';
}

/** The columns of an entry as the driver reads them. */
export interface LedgerEntryRow {
  readonly id: string;
  readonly account_id: string;
  readonly account_name?: string;
  readonly position: string;
  readonly kind: LedgerEntry['kind'];
  readonly amount: string;
  readonly balance_after: string;
  readonly hold_id: string | null;
  readonly hold_owner: string | null;
  readonly reference: string | null;
  readonly idempotency_key: string | null;
  readonly refund_key: string | null;
  readonly reason: RefundReason | null;
  readonly credit_kind: CreditKind | null;
  readonly expires_at: Date | null;
  readonly payment_reference: string | null;
  readonly currency: string | null;
  readonly tax: string | null;
  /** What {@link ENTRY_SOURCE} says, where it is joined. */
  readonly granted_part?: string | null;
  readonly expired_entry_id?: string | null;
  readonly created_at: Date;
}

/** Joins what the lots say about the entry `e`: granted money in it, and the credit that expired. */
export const ENTRY_SOURCE = (e: string): string => `
  LEFT JOIN LATERAL (
    SELECT s.granted AS granted_part FROM ledger_entry_source s
     WHERE s.account_id = ${e}.account_id AND s.position = ${e}.position LIMIT 1) source ON true
  LEFT JOIN LATERAL (
    SELECT o.id AS expired_entry_id FROM ledger_entry o
     WHERE o.account_id = ${e}.account_id AND o.position = ${e}.credit_position LIMIT 1) expired ON true`;

/** The entry in a row. */
export function ledgerEntryOf(row: LedgerEntryRow): LedgerEntry {
  return {
    id: row.id,
    accountId: row.account_id,
    accountName: row.account_name,
    kind: row.kind,
    amountMicroUsd: BigInt(row.amount),
    grantedMicroUsd: BigInt(row.credit_kind === 'granted' ? row.amount : (row.granted_part ?? 0)),
    balanceAfterMicroUsd: BigInt(row.balance_after),
    terms: row.kind === 'credit' ? termsOf(row) : null,
    expiredEntryId: row.expired_entry_id ?? null,
    holdId: row.hold_id,
    holdOwner: row.hold_owner,
    reference: row.reference,
    reason: row.reason,
    idempotencyKey: row.idempotency_key ?? row.refund_key,
    createdAt: row.created_at,
  };
}

function termsOf(row: LedgerEntryRow): CreditTerms {
  return {
    kind: row.credit_kind ?? 'paid',
    expiresAt: row.expires_at,
    paymentReference: row.payment_reference,
    currency: row.currency,
    taxMicroUsd: row.tax === null ? null : BigInt(row.tax),
  };
}
