import { isUnsignedAmount, UNSIGNED_AMOUNT_RULE } from '../../common/money/micro-usd.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { Custom, Enum, Int, ModelId, Text } from '../../common/validation/fields.js';
import { type Scope, SCOPES } from '../scope.js';
import type { SpendPeriod } from '../spend-limit.js';

const MAX_NAME = 200;
const MAX_MODELS = 1_000;
const MAX_REQUESTS_PER_MINUTE = 10_000_000;
const optional = { optional: true } as const;

/** Body of POST /admin/accounts/{id}/keys and POST /v1/keys. */
export class CreateKeyBody {
  @Text({ max: MAX_NAME, ...optional, description: 'A name of your own for the key' })
  name?: string;

  @ModelId({ ...optional, list: { min: 0, max: MAX_MODELS }, description: 'Absent = all models' })
  allowed_models?: string[];

  @Int({ min: 1, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds' })
  expires_at?: number;

  @Int({
    min: 1,
    max: MAX_REQUESTS_PER_MINUTE,
    ...optional,
    description: 'Most requests of the key in a minute; absent, the gateway decides',
  })
  requests_per_minute?: number;

  @Custom(isUnsignedAmount, UNSIGNED_AMOUNT_RULE, {
    ...optional,
    description: 'Micro-USD its charges and open holds may reach in each period',
    example: '5000000',
    api: { type: String, pattern: '^[0-9]+$' },
  })
  spend_limit_microusd?: string;

  @Enum(['day', 'month', 'total'], {
    ...optional,
    description: 'A day or month of UTC, or `total`, which is meant where a limit names none',
  })
  spend_limit_period?: SpendPeriod;

  @Enum(SCOPES, {
    ...optional,
    list: { min: 1, max: SCOPES.length },
    description:
      'What the key may do: `read` lists and accounts, `call` what is sold, `manage` keys of its own. Absent: read and call',
  })
  scopes?: Scope[];
}

/** Body of PATCH /admin/keys/{id} and PATCH /v1/keys/{id}. Absent fields stay; null clears. */
export class UpdateKeyBody extends CreateKeyBody {}
