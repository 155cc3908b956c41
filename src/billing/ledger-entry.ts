import type { MicroUsd } from '../common/money/micro-usd.js';

/** One movement of an account's money; never changed, never deleted. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: string;
  readonly accountName?: string | undefined;
  readonly kind: 'credit' | 'correction' | 'charge';
  /** Signed: a charge is negative. */
  readonly amountMicroUsd: MicroUsd;
  /** Sum of the account's entries up to and including this one. */
  readonly balanceAfterMicroUsd: MicroUsd;
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
  readonly created_at: Date;
}

/** The entry in a row. */
export function ledgerEntryOf(row: LedgerEntryRow): LedgerEntry {
  return {
    id: row.id,
    accountId: row.account_id,
    accountName: row.account_name,
    kind: row.kind,
    amountMicroUsd: BigInt(row.amount),
    balanceAfterMicroUsd: BigInt(row.balance_after),
    holdId: row.hold_id,
    holdOwner: row.hold_owner,
    reference: row.reference,
    reason: row.reason,
    idempotencyKey: row.idempotency_key ?? row.refund_key,
    createdAt: row.created_at,
  };
}
