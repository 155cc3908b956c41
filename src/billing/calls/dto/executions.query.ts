import { filterId } from '../../../common/ids/id-params.js';
import { MAX_ID_CHARS } from '../../../common/ids/public-id.js';
import { PageQuery } from '../../../common/paging/page.query.js';
import { MAX_EPOCH_SECONDS } from '../../../common/time/clock.js';
import { timeRangeOf } from '../../../common/time/time-range.js';
import { ModelId, Enum, Text, Int } from '../../../common/validation/fields.js';
import type { ExecutionStatus } from '../execution.js';
import type { ExecutionQuery } from '../executions.service.js';

const MAX_CLIENT_REQUEST_ID = 128;
const optional = { optional: true } as const;

/** Query of GET /v1/executions. */
export class ExecutionsQuery extends PageQuery {
  @Enum(['running', 'succeeded', 'failed'], { ...optional, description: 'Calls in one status' })
  status?: ExecutionStatus;

  @ModelId(optional)
  model?: string;

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Calls of one key, by its id' })
  api_key_id?: string;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, inclusive' })
  created_after?: number;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, exclusive' })
  created_before?: number;

  @Text({
    max: MAX_CLIENT_REQUEST_ID,
    ...optional,
    description: 'As sent in `X-Client-Request-Id`',
  })
  client_request_id?: string;
}

/** The query with internal names. Throws 400 `invalid_request` for an invalid `api_key_id` or an empty range. */
export function executionQueryOf(query: ExecutionsQuery): ExecutionQuery {
  return {
    limit: query.limit,
    cursor: query.cursor,
    status: query.status,
    model: query.model,
    apiKeyId: filterId('key', 'api_key_id', query.api_key_id),
    ...timeRangeOf(query),
    clientRequestId: query.client_request_id,
  };
}
