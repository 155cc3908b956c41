import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { isUnsignedAmount, UNSIGNED_AMOUNT_RULE } from '../../common/money/micro-usd.js';
import { Checked, OneOf } from '../../common/validation/fields.js';

/** Body of POST /admin/tasks/{id}/resolve. */
export class ResolveTaskBody {
  @OneOf(['succeeded', 'failed'], { example: 'failed' })
  outcome!: 'succeeded' | 'failed';

  @Checked(isUnsignedAmount, UNSIGNED_AMOUNT_RULE, {
    optional: true,
    description: 'Micro-USD, at most what was held; absent: all of it. Only with succeeded',
    api: { type: String, pattern: '^[0-9]+$' },
  })
  charged_microusd?: string;

  @Checked(isJsonObject, 'must be an object', {
    optional: true,
    description: 'What the task shows as its result. Only with succeeded',
    api: { type: 'object', additionalProperties: true },
  })
  result?: JsonObject;
}
