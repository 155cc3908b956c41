import {
  isUnsignedAmount,
  MAX_MICRO_USD,
  parseMicroUsd,
  UNSIGNED_AMOUNT_RULE,
} from '../../common/money/micro-usd.js';
import { REFUND_REASONS, type RefundReason } from '../../billing/ledger-entry.js';
import { Custom, Bool, Enum, Text, Int } from '../../common/validation/fields.js';

const MAX_NAME = 200;
const MAX_NOTE = 1_000;
const MAX_OVERLAP_SECONDS = 30 * 86_400;
const optional = { optional: true } as const;
const REASONS =
  'goodwill; fault: the work was bad or did not arrive; billing_error. The holder sees it';

/** Body of POST /admin/accounts. */
export class CreateAccountBody {
  @Text({ max: MAX_NAME, example: 'acme', description: 'A name of your own for the account' })
  name!: string;

  @Bool({
    ...optional,
    description:
      'Whether its credits are play money, which buys the work of the sandbox only. Absent: true while the sandbox serves every provider',
  })
  play_money?: boolean;
}

const isAmount = (value: unknown): boolean =>
  typeof value === 'string' && (parseMicroUsd(value) ?? 0n) !== 0n;

/** Body of POST /admin/accounts/{id}/credits. */
export class CreditBody {
  @Custom(
    isAmount,
    `must be a string of digits other than zero, at most ${MAX_MICRO_USD}, with a leading minus on a correction`,
    {
      description: 'Micro-USD; negative corrects',
      example: '5000000',
      api: { type: String, pattern: '^-?[0-9]+$' },
    },
  )
  amount_microusd!: string;

  @Text({
    max: MAX_NOTE,
    ...optional,
    description: 'A note of your own, shown with the entry to operators only',
  })
  note?: string;

  @Enum(REFUND_REASONS, { ...optional, description: `Of a correction: why. ${REASONS}` })
  reason?: RefundReason;
}

/** Body of PATCH /admin/accounts/{id}. Absent fields stay; null clears. */
export class UpdateAccountBody {
  @Text({ max: MAX_NAME, ...optional, example: 'acme', description: 'The new name' })
  name?: string;

  @Bool({ ...optional, description: 'Refuses all calls of its keys within 2 s' })
  disabled?: boolean;

  @Text({
    max: MAX_NAME,
    ...optional,
    example: 'partners',
    description: 'The price book by which it pays within 2 s; null: the listed prices',
  })
  price_book?: string;
}

/** Body of POST /admin/executions/{id}/refund and POST /admin/tasks/{id}/refund. */
export class RefundBody {
  @Custom(
    (value) => isUnsignedAmount(value) && BigInt(value as string) > 0n,
    `${UNSIGNED_AMOUNT_RULE}, above zero`,
    {
      ...optional,
      description: 'Micro-USD of the charge, with an Idempotency-Key; absent = all that is left',
      example: '300',
      api: { type: String, pattern: '^[0-9]+$' },
    },
  )
  amount_microusd?: string;

  @Text({
    max: MAX_NOTE,
    ...optional,
    example: 'ticket 17',
    description: 'A note of your own, shown with the entry to operators only',
  })
  note?: string;

  @Enum(REFUND_REASONS, { ...optional, example: 'goodwill', description: `Why. ${REASONS}` })
  reason?: RefundReason;
}

/** Body of POST /admin/keys/{id}/rotate. */
export class RotateKeyBody {
  @Int({
    min: 0,
    max: MAX_OVERLAP_SECONDS,
    default: 0,
    description: 'How long the old key still works',
  })
  overlap_seconds!: number;
}
