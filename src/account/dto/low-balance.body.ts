import { isUnsignedAmount, UNSIGNED_AMOUNT_RULE } from '../../common/money/micro-usd.js';
import { Custom } from '../../common/validation/fields.js';

/** Body of PATCH /v1/account. */
export class LowBalanceBody {
  @Custom(
    (value) => isUnsignedAmount(value) && BigInt(value as string) > 0n,
    `${UNSIGNED_AMOUNT_RULE}, above zero`,
    {
      optional: true,
      description:
        'Micro-USD below which the event `balance.low` is told; null: never. Absent: as it is',
      example: '1000000',
      api: { type: String, pattern: '^[0-9]+$', nullable: true },
    },
  )
  low_balance_microusd?: string;
}
