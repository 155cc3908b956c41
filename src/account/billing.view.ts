import { ApiProperty } from '@nestjs/swagger';
import type { AccountTotals } from '../billing/usage/account-usage.js';
import { type MicroUsd, usdOf } from '../common/money/micro-usd.js';

const CENTS_PER_USD = 100;

/** What was credited and what was used. */
export class CreditTotalsView {
  @ApiProperty({ example: 10, description: 'USD credited, less corrections and expiries' })
  total_credits!: number;

  @ApiProperty({ example: 0.0012, description: 'USD charged, less refunds' })
  total_usage!: number;
}

/** GET /v1/credits. */
export class CreditsView {
  @ApiProperty({ description: 'Their difference is what is available and held' })
  data!: CreditTotalsView;
}

const limit = { example: 10, description: 'USD credited in all: `total_credits`' } as const;

/** GET /v1/dashboard/billing/subscription. */
export class BillingSubscriptionView {
  @ApiProperty({ enum: ['billing_subscription'], description: 'Says what kind of object this is' })
  object!: 'billing_subscription';

  @ApiProperty(limit)
  hard_limit_usd!: number;

  @ApiProperty(limit)
  soft_limit_usd!: number;

  @ApiProperty(limit)
  system_hard_limit_usd!: number;

  @ApiProperty({
    type: 'integer',
    example: 0,
    description: 'Epoch seconds at which this key expires; 0 where it never does',
  })
  access_until!: number;
}

/** GET /v1/dashboard/billing/usage. */
export class BillingUsageView {
  @ApiProperty({ enum: ['list'], description: 'Says what kind of object this is' })
  object!: 'list';

  @ApiProperty({ example: 0.12, description: 'Cents of USD charged, less refunds' })
  total_usage!: number;
}

const creditedOf = ({ usedMicroUsd, postedMicroUsd }: AccountTotals): number =>
  usdOf(postedMicroUsd + usedMicroUsd);

export function viewCredits(totals: AccountTotals): CreditsView {
  return { data: { total_credits: creditedOf(totals), total_usage: usdOf(totals.usedMicroUsd) } };
}

export function viewSubscription(
  totals: AccountTotals,
  expiresAtMs: number | null,
): BillingSubscriptionView {
  const credited = creditedOf(totals);
  return {
    object: 'billing_subscription',
    hard_limit_usd: credited,
    soft_limit_usd: credited,
    system_hard_limit_usd: credited,
    access_until: expiresAtMs === null ? 0 : Math.floor(expiresAtMs / 1000),
  };
}

export function viewBillingUsage(used: MicroUsd): BillingUsageView {
  return { object: 'list', total_usage: usdOf(used * BigInt(CENTS_PER_USD)) };
}
