import type { MicroUsd } from '../common/money/micro-usd.js';

/** One movement of an account's money; never changed, never deleted. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'credit' | 'correction' | 'charge';
  /** Signed: a charge is negative. */
  readonly amountMicroUsd: MicroUsd;
  /** Sum of the account's entries up to and including this one. */
  readonly balanceAfterMicroUsd: MicroUsd;
  /** The hold a charge settled. */
  readonly holdId: string | null;
  /** What that hold was for: `execution` or `task`. */
  readonly holdOwner: string | null;
  readonly reference: string | null;
  readonly createdAt: Date;
}

/** The columns of an entry as the driver reads them. */
export interface LedgerEntryRow {
  readonly id: string;
  readonly account_id: string;
  readonly position: string;
  readonly kind: LedgerEntry['kind'];
  readonly amount: string;
  readonly balance_after: string;
  readonly hold_id: string | null;
  readonly hold_owner: string | null;
  readonly reference: string | null;
  readonly created_at: Date;
}

/** The entry in a row. */
export function ledgerEntryOf(row: LedgerEntryRow): LedgerEntry {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    amountMicroUsd: BigInt(row.amount),
    balanceAfterMicroUsd: BigInt(row.balance_after),
    holdId: row.hold_id,
    holdOwner: row.hold_owner,
    reference: row.reference,
    createdAt: row.created_at,
  };
}
