import {
  isUnsignedAmount,
  MAX_MICRO_USD,
  parseMicroUsd,
  UNSIGNED_AMOUNT_RULE,
} from '../../common/money/micro-usd.js';
import { REFUND_REASONS, type RefundReason } from '../../billing/ledger-entry.js';
import { CREDIT_KINDS, type CreditKind } from '../../billing/credit-terms.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { Custom, Bool, Enum, Text, Int } from '../../common/validation/fields.js';

const MAX_NAME = 200;
const MAX_NOTE = 1_000;
const MAX_REASON = 500;
const MAX_PAYMENT_REFERENCE = 200;
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

const CURRENCIES: ReadonlySet<unknown> = new Set(Intl.supportedValuesOf('currency'));
const isCurrency = (value: unknown): boolean => CURRENCIES.has(value);

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

  @Enum(CREDIT_KINDS, {
    ...optional,
    description:
      'Of a credit: `paid` (absent too) or `granted`, which is given, and is spent before what was paid',
  })
  credit_kind?: CreditKind;

  @Enum(CREDIT_KINDS, { ...optional, description: 'The same as `credit_kind`' })
  kind?: CreditKind;

  @Int({
    min: 1,
    max: MAX_EPOCH_SECONDS,
    ...optional,
    description: 'Of a credit: epoch seconds, later than now, at which what is left of it expires',
  })
  expires_at?: number;

  @Text({
    max: MAX_PAYMENT_REFERENCE,
    ...optional,
    description: 'Of a credit: what the payment is called elsewhere; its holder sees it',
  })
  payment_reference?: string;

  @Custom(isCurrency, 'must be a currency of ISO 4217, three capital letters such as EUR', {
    ...optional,
    description: 'Of a credit: the currency that was paid in, by ISO 4217',
    example: 'EUR',
    api: { type: String, pattern: '^[A-Z]{3}$' },
  })
  currency?: string;

  @Custom(isUnsignedAmount, UNSIGNED_AMOUNT_RULE, {
    ...optional,
    description: 'Of a credit: micro-USD of tax in it, at most `amount_microusd`',
    example: '950000',
    api: { type: String, pattern: '^[0-9]+$' },
  })
  tax_microusd?: string;
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

  @Custom(
    (value) => isUnsignedAmount(value) && BigInt(value as string) > 0n,
    `${UNSIGNED_AMOUNT_RULE}, above zero`,
    {
      ...optional,
      description: 'Micro-USD below which the event `balance.low` is told; null: never',
      example: '1000000',
      api: { type: String, pattern: '^[0-9]+$', nullable: true },
    },
  )
  low_balance_microusd?: string;

  @Bool({
    ...optional,
    description:
      'Keeps the answers of all its synchronous calls for 24 hours: see `GET /v1/executions/{id}/content`',
  })
  keep_answers?: boolean;
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

/** Body of POST /admin/providers/{provider}/pause and …/{route}/pause. */
export class RoutePauseBody {
  @Text({
    max: MAX_REASON,
    description: 'Why, for other operators',
    example: 'their status page says that they fail',
  })
  reason!: string;

  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    optional: true,
    description: 'Epoch seconds at which it ends, at most 30 days ahead. Absent: in an hour',
    example: 1_800_000_000,
  })
  expires_at?: number;
}
