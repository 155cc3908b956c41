import { filterId } from '../../common/ids/id-params.js';
import { MAX_ID_CHARS } from '../../common/ids/public-id.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { Int, Text } from '../../common/validation/fields.js';
import { MAX_HOST } from '../../webhooks/webhook-fields.js';
import type { FailedFilter } from '../../webhooks/webhook-receivers.js';

const optional = { optional: true } as const;

/** Body of POST /admin/webhook-deliveries/redeliver. */
export class RedeliverBody {
  @Text({
    max: MAX_HOST,
    ...optional,
    description: 'Deliveries to this host only, as its URLs name it, with the port if they do',
    example: 'hooks.example.com',
  })
  host?: string;

  @Text({
    max: MAX_ID_CHARS,
    ...optional,
    description: 'Deliveries of one account only, by its id',
  })
  account_id?: string;

  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    description: 'Epoch seconds: deliveries whose last attempt began then or later',
    example: 1_700_000_000,
  })
  failed_after!: number;
}

/** Query of GET /admin/webhook-receivers. */
export class ReceiversQuery {
  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    ...optional,
    description: 'Epoch seconds: what was written then or later. Absent: the last 24 hours',
  })
  created_after?: number;
}

/** The body with internal names. Throws 400 `invalid_request` for an `account_id` that is no id of one. */
export function failedFilterOf(body: RedeliverBody): FailedFilter {
  return {
    host: body.host?.toLowerCase(),
    accountId: filterId('acct', 'account_id', body.account_id),
    failedAfter: new Date(body.failed_after * 1_000),
  };
}
