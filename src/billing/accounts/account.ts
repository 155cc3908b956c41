import type { MicroUsd } from '../../common/money/micro-usd.js';

/** A prepaid balance. The account can spend posted − held. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Sum of the account's ledger entries. */
  readonly postedMicroUsd: MicroUsd;
  /** Sum of the account's open holds. */
  readonly heldMicroUsd: MicroUsd;
  readonly availableMicroUsd: MicroUsd;
  /** A disabled account gets no new calls; running ones end as usual. */
  readonly isDisabled: boolean;
  /** Play money pays only for calls to the sandbox. Real money pays for calls to providers (decisions G-95, G-110). */
  readonly hasPlayMoney: boolean;
  /** The price book by which its calls and tasks are priced; null = the list. */
  readonly priceBook: string | null;
  /** Below this, what is available is told as the event `balance.low`; null: never. */
  readonly lowBalanceMicroUsd: MicroUsd | null;
  /** The answers of all its synchronous calls are kept for a day. */
  readonly keepsAnswers: boolean;
  /** It moves to another cell, or has moved: it stays closed, and its money cannot be moved here. */
  readonly isLeaving: boolean;
  readonly createdAt: Date;
}

/** The columns of an account, as the driver reads them. */
export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly posted: string;
  readonly held: string;
  readonly disabled: boolean;
  readonly play_money: boolean;
  readonly price_book: string | null;
  readonly low_balance: string | null;
  readonly keep_answers: boolean;
  readonly leaving: string | null;
  readonly created_at: Date;
}

/** The account in a row. */
export function accountOf(row: AccountRow): Account {
  const posted = BigInt(row.posted);
  const held = BigInt(row.held);
  return {
    id: row.id,
    name: row.name,
    postedMicroUsd: posted,
    heldMicroUsd: held,
    availableMicroUsd: posted - held,
    isDisabled: row.disabled,
    hasPlayMoney: row.play_money,
    priceBook: row.price_book,
    lowBalanceMicroUsd: row.low_balance === null ? null : BigInt(row.low_balance),
    keepsAnswers: row.keep_answers,
    isLeaving: row.leaving !== null,
    createdAt: row.created_at,
  };
}
