import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { isUnsignedAmount, UNSIGNED_AMOUNT_RULE } from '../../common/money/micro-usd.js';
import { Custom, Enum } from '../../common/validation/fields.js';

/** Body of POST /admin/tasks/{id}/resolve. */
export class ResolveTaskBody {
  @Enum(['succeeded', 'failed', 'collect'], {
    example: 'collect',
    description:
      'collect: fetches the result from the provider and delivers it, also to a task that failed or expired',
  })
  outcome!: 'succeeded' | 'failed' | 'collect';

  @Custom(isUnsignedAmount, UNSIGNED_AMOUNT_RULE, {
    optional: true,
    description:
      'Micro-USD, at most what was held; absent: all of it, and nothing for a task that had failed or expired. Not with failed',
    api: { type: String, pattern: '^[0-9]+$' },
  })
  charged_microusd?: string;

  @Custom(isJsonObject, 'must be an object', {
    optional: true,
    description: 'What the task shows as its result; absent: nothing. Only with succeeded',
    api: { type: 'object', additionalProperties: true },
  })
  result?: JsonObject;
}
