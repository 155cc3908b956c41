import type { MicroUsd } from '../common/money/micro-usd.js';
import type { PageRequest } from '../common/paging/page.js';
import type { CorrectionKind, LedgerEntry, RefundReason } from './ledger-entry.js';
import type { CreditTerms } from './credit-terms.js';

/** A hold to place; `owner` is what it is for: `task`. */
export interface HoldRequest {
  readonly accountId: string;
  readonly holdId: string;
  readonly amountMicroUsd: MicroUsd;
  readonly owner: string;
}

/** A credit by an operator, or with a negative amount a correction. The idempotency key makes it happen once. */
export interface CreditRequest {
  readonly accountId: string;
  readonly amountMicroUsd: MicroUsd;
  readonly idempotencyKey: string;
  readonly reference: string | null;
  /** Of a correction. */
  readonly reason?: RefundReason | undefined;
  /** Default: paid, without an end. A correction has none. */
  readonly terms?: CreditTerms | undefined;
}

/** An operator's refund of the charge of a call or task. */
export interface RefundRequest {
  readonly of: 'execution' | 'task';
  readonly id: string;
  /** Default: all that is left of the charge. */
  readonly amountMicroUsd?: MicroUsd | undefined;
  /** The same key refunds once. */
  readonly idempotencyKey?: string | undefined;
  readonly note: string | null;
  readonly reason?: RefundReason | undefined;
}

/** Which accounts to list. */
export interface AccountQuery extends PageRequest {
  readonly namePrefix?: string | undefined;
  /** Accounts with less than this to spend. */
  readonly availableBelow?: bigint | undefined;
  /** `available`: those with the least to spend first; `spent`: those that spent most; `burn`: those that spend most per day. Absent: the newest first. */
  readonly sort?: 'available' | 'spent' | 'burn' | undefined;
}

/** Changes of an account. Absent fields stay. */
export interface AccountChanges {
  /** Keeps the answers of all its synchronous calls for a day. */
  readonly keepsAnswers?: boolean | undefined;
  readonly name?: string | undefined;
  readonly isDisabled?: boolean | undefined;
  /** The id of a price book; null = none. */
  readonly priceBook?: string | null | undefined;
  /** Below this, what is available is told as an event; null: never. */
  readonly lowBalanceMicroUsd?: bigint | null | undefined;
}

/** Which entries to list, of one account or of all. */
export interface EntryQuery extends PageRequest {
  readonly kind?: LedgerEntry['kind'] | undefined;
  readonly correctionKind?: CorrectionKind | undefined;
  /** Of a refund or correction. */
  readonly reason?: RefundReason | undefined;
  /** Of a credit or a refund. */
  readonly idempotencyKey?: string | undefined;
  /** Of the call or task that was charged or refunded. */
  readonly model?: string | undefined;
  /** Of the call or task that was charged or refunded. */
  readonly apiKeyId?: string | undefined;
  /** Inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}
