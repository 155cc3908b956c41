import { ApiProperty } from '@nestjs/swagger';
import type { Account } from '../../billing/accounts/account.js';
import { BURN_DAYS } from '../../billing/accounts/account-burn.js';
import type { ListedAccount } from '../../billing/accounts/account-list.js';
import {
  type AccountCreditView,
  CreditsProperty,
  viewBalance,
} from '../../billing/accounts/account-credit.view.js';
import type { AccountWithCredits } from '../../billing/accounts/account-credits.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';

/** An account as the operator sees it. */
export class AccountRecordView {
  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the account',
  })
  id!: string;

  @ApiProperty({ enum: ['account'], description: 'Says what kind of object this is' })
  object!: 'account';

  @ApiProperty({
    example: 'Customer 1',
    description: 'Name of the account, as an operator gave it',
  })
  name!: string;

  @ApiProperty({ example: '5000000', description: 'Micro-USD that may be spent' })
  available_microusd!: string;

  @ApiProperty({ example: '0', description: 'Micro-USD that calls and tasks under way hold' })
  held_microusd!: string;

  @ApiProperty({ description: 'Its keys get 403 on every `/v1` path; what runs ends as usual' })
  disabled!: boolean;

  @ApiProperty({
    description: "Play money buys the sandbox's work only, real money that of providers",
  })
  play_money!: boolean;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'partners',
    description: 'The price book by which it pays; null: the listed prices',
  })
  price_book!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Micro-USD below which the event `balance.low` is told; null: never',
  })
  low_balance_microusd!: string | null;

  @ApiProperty({
    description: 'Whether the answers of all its synchronous calls are kept for 24 hours',
  })
  keep_answers!: boolean;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** An account with what its balance consists of. */
export class AccountDetailView extends AccountRecordView {
  @CreditsProperty()
  credits!: AccountCreditView[];
}

/** An account of a list, with what it spends. */
export class ListedAccountView extends AccountRecordView {
  @ApiProperty({
    example: '1250000',
    description: `Micro-USD that it was charged per day, less what was given back: the average of the last ${BURN_DAYS} days of UTC, today among them, or of fewer where it is newer. Some seconds late`,
  })
  burn_microusd_per_day!: string;
}

/** A page of accounts. */
export class AccountRecordPage extends pageOfViews(ListedAccountView) {}

/** The account, with its balance. */
export function viewAccount(account: Account): AccountRecordView {
  return {
    id: toPublicId('acct', account.id),
    object: 'account',
    name: account.name,
    available_microusd: formatMicroUsd(account.availableMicroUsd),
    held_microusd: formatMicroUsd(account.heldMicroUsd),
    disabled: account.isDisabled,
    play_money: account.hasPlayMoney,
    price_book: account.priceBook,
    low_balance_microusd:
      account.lowBalanceMicroUsd === null ? null : formatMicroUsd(account.lowBalanceMicroUsd),
    keep_answers: account.keepsAnswers,
    created_at: toEpochSeconds(account.createdAt),
  };
}

/** The account, with its balance and what that consists of. */
export function viewAccountDetail(account: AccountWithCredits): AccountDetailView {
  return { ...viewAccount(account), credits: viewBalance(account.credits) };
}

/** The account, with its balance and what it spends. */
export function viewListedAccount(account: ListedAccount): ListedAccountView {
  return {
    ...viewAccount(account),
    burn_microusd_per_day: formatMicroUsd(account.burnMicroUsdPerDay),
  };
}
