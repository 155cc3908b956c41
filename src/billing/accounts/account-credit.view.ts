import { ApiProperty } from '@nestjs/swagger';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import { CREDIT_KINDS, type CreditKind } from '../credit-terms.js';
import type { AccountCredit } from './account-credits.js';

/** A part of a balance: what is left of credits of one kind that expire at the same time. */
export class AccountCreditView {
  @ApiProperty({
    enum: CREDIT_KINDS,
    description: '`granted` (was given, and is spent first) or `paid` (was bought)',
  })
  credit_kind!: CreditKind;

  @ApiProperty({
    example: '5000000',
    description: 'Micro-USD that are left of it, held ones included',
  })
  remaining_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: Number,
    description: 'Epoch seconds at which the rest expires; null: never',
  })
  expires_at!: number | null;
}

/** The parts of a balance, in the order of spending. */
export function viewBalance(credits: readonly AccountCredit[]): AccountCreditView[] {
  return credits.map(({ kind, remainingMicroUsd, expiresAt }) => ({
    credit_kind: kind,
    remaining_microusd: formatMicroUsd(remainingMicroUsd),
    expires_at: expiresAt && toEpochSeconds(expiresAt),
  }));
}

/** In the document: the parts of the balance of an account. */
export const CreditsProperty = (): PropertyDecorator =>
  ApiProperty({
    type: [AccountCreditView],
    description: 'What the balance, available and held, consists of, in the order of spending',
  });
