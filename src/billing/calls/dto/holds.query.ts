import { MAX_ID_CHARS } from '../../../common/ids/public-id.js';
import { type Holder, HOLDERS, type OpenHoldQuery } from '../open-holds.js';
import { PageQuery } from '../../../common/paging/page.query.js';
import { MAX_EPOCH_SECONDS } from '../../../common/time/clock.js';
import { timeRangeOf } from '../../../common/time/time-range.js';
import { Enum, Int, ModelId, Text } from '../../../common/validation/fields.js';

const optional = { optional: true } as const;

/** Query of GET /v1/holds. */
export class HoldsQuery extends PageQuery {
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

/** Query of GET /admin/holds. */
export class AdminHoldsQuery extends HoldsQuery {
  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Holds on one account, by its id' })
  account_id?: string;
}

/** The query with internal names; `accountId` is that of the holder of a key. */
export function holdQueryOf(query: HoldsQuery, accountId: string | undefined): OpenHoldQuery {
  const { limit, cursor, model, holder, created_before: before } = query;
  const { createdBefore } = timeRangeOf({ created_before: before });
  return { limit, cursor, model, holder, accountId, createdBefore };
}
