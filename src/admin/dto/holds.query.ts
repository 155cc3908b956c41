import { type Holder, HOLDERS, type OpenHoldQuery } from '../../billing/calls/open-holds.js';
import { filterId } from '../../common/ids/id-params.js';
import { PageQuery } from '../../common/paging/page.query.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { timeRangeOf } from '../../common/time/time-range.js';
import { Enum, Int, ModelId, Text } from '../../common/validation/fields.js';

const MAX_ID = 100;
const optional = { optional: true } as const;

/** Query of GET /admin/holds. */
export class HoldsQuery extends PageQuery {
  @Text({ max: MAX_ID, ...optional, description: 'Holds on one account, by its id' })
  account_id?: string;

  @ModelId({ ...optional, description: 'Holds for one model' })
  model?: string;

  @Enum(HOLDERS, { ...optional, description: 'Holds of synchronous calls or of tasks only' })
  holder?: Holder;

  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    ...optional,
    description: 'Epoch seconds, exclusive: holds that are older',
  })
  created_before?: number;
}

/** The query with internal names. Throws 400 `invalid_request` for an `account_id` that is no id of one. */
export function holdQueryOf(query: HoldsQuery): OpenHoldQuery {
  const { limit, cursor, model, holder, account_id: account, created_before: before } = query;
  const { createdBefore } = timeRangeOf({ created_before: before });
  const accountId = filterId('acct', 'account_id', account);
  return { limit, cursor, model, holder, accountId, createdBefore };
}
