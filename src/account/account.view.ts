import { ApiProperty } from '@nestjs/swagger';
import { BURN_DAYS } from '../billing/accounts/account-burn.js';
import {
  type AccountCreditView,
  CreditsProperty,
} from '../billing/accounts/account-credit.view.js';

/** The balance of an account: what can be spent, and what running calls hold. */
export class AccountView {
  @ApiProperty({ enum: ['account'], description: 'Says what kind of object this is' })
  object!: 'account';

  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the account',
  })
  id!: string;

  @ApiProperty({ example: '100000000', description: 'Micro-USD' })
  available_microusd!: string;

  @ApiProperty({ example: '0', description: 'Micro-USD' })
  held_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '1000000',
    description: 'Micro-USD below which the event `balance.low` is told; null: never',
  })
  low_balance_microusd!: string | null;

  @ApiProperty({
    example: '400000',
    description: `Micro-USD charged per day in the last ${BURN_DAYS} days of UTC, less what was given back`,
  })
  burn_microusd_per_day!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '2026-12-24',
    description:
      'The day of UTC on which what is available is spent at that burn; null: not within ten years',
  })
  runs_out_on!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'https://shop.example/top-up/acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Where the account gets more money; null: the gateway names no page',
  })
  topup_url!: string | null;

  @CreditsProperty()
  credits!: AccountCreditView[];
}
