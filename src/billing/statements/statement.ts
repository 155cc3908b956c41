import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { LedgerEntry } from '../ledger-entry.js';
import type { TokenSum } from '../token-sums.js';
import type { UsageUnit } from '../usage/usage-units.js';

/**
 * What an account had, paid in, used and has left in a month of UTC, by the time of posting.
 * opening + credits + corrections − charges + refunds − expired = closing.
 */
export interface Statement {
  readonly accountId: string;
  readonly accountName: string;
  /** Of the month, such as 2026-11-01. */
  readonly firstDay: string;
  /** Entries from this position on came after the statement was read, or after its month. */
  readonly endPosition: string;
  /** Such as 2026-11. */
  readonly month: string;
  /** Whether the month is over and everything of it is counted: the statement never changes again. */
  readonly isClosed: boolean;
  readonly openingMicroUsd: MicroUsd;
  /** At the end of the month; of the running month, now. */
  readonly closingMicroUsd: MicroUsd;
  /** What calls and tasks held at the same time, as a part of the closing balance; null where it is not known. */
  readonly heldMicroUsd: MicroUsd | null;
  readonly chargesMicroUsd: MicroUsd;
  /** By model. Together they are what was charged. */
  readonly charges: readonly ModelCharge[];
  readonly credits: EntrySum;
  /** Sum of the taxes that credits tell; null where none does. */
  readonly taxMicroUsd: MicroUsd | null;
  /** What operators set right; signed. */
  readonly corrections: EntrySum;
  /** What was given back of charges, of this month or of earlier ones. */
  readonly refunds: EntrySum;
  /** What was left of credits at their ends; negative. */
  readonly expiries: EntrySum;
}

/** The parts of a statement that are entries. */
export const STATEMENT_PARTS = ['credits', 'corrections', 'refunds', 'expiries'] as const;
export type StatementPart = (typeof STATEMENT_PARTS)[number];

/** Entries of one kind. */
export interface EntrySum {
  readonly totalMicroUsd: MicroUsd;
  readonly count: number;
  /** The first of them, in the order of posting. */
  readonly entries: readonly LedgerEntry[];
  /** Of the last of them; zero where there is none. */
  readonly lastPosition: string;
}

/** What was charged for a model. */
export interface ModelCharge {
  /** Null: charged for calls of which usage knows no model. */
  readonly model: string | null;
  /** Calls and tasks that succeeded. */
  readonly calls: number;
  /** Null where it would be a sum of several units. */
  readonly quantity: number | null;
  readonly unit: UsageUnit | null;
  /** Zero where nothing is sold by token. */
  readonly tokens: Readonly<Record<TokenSum, number>>;
  readonly amountMicroUsd: MicroUsd;
}
