import { MAX_ID_CHARS } from '../../common/ids/public-id.js';
import { PageQuery } from '../../common/paging/page.query.js';
import { OwnLedgerQuery } from '../../billing/ledger/dto/ledger.query.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { timeRangeOf } from '../../common/time/time-range.js';
import { isUnsignedAmount, UNSIGNED_AMOUNT_RULE } from '../../common/money/micro-usd.js';
import { Custom, Enum, Text, Int } from '../../common/validation/fields.js';
import { ExecutionsQuery } from '../../billing/calls/dto/executions.query.js';
import type { ActionQuery } from '../../auth/acts/operator-actions.js';
import { OwnDeliveriesQuery } from '../../webhooks/deliveries.query.js';
import { MAX_HOST } from '../../webhooks/webhook-fields.js';

const MAX_NAME = 200;
const MAX_IDEMPOTENCY_KEY = 200;
const optional = { optional: true } as const;

/** Query of GET /admin/executions. */
export class AdminExecutionsQuery extends ExecutionsQuery {
  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Calls of one account, by its id' })
  account_id?: string;

  @Enum(['true', 'false'], {
    ...optional,
    description: 'Whether it is a stream that broke before it was whole, and is free',
  })
  broken?: 'true' | 'false';
}

/** Query of GET /admin/accounts. */
export class AccountsQuery extends PageQuery {
  @Text({ max: MAX_NAME, ...optional, description: 'What the name begins with, in any case' })
  name?: string;

  @Custom(isUnsignedAmount, UNSIGNED_AMOUNT_RULE, {
    ...optional,
    description: 'Accounts with less micro-USD than this to spend',
    example: '1000000',
    api: { type: String, pattern: '^[0-9]+$' },
  })
  available_below?: string;

  @Enum(['available', 'spent', 'burn'], {
    ...optional,
    description:
      '`available`: the least to spend first; `spent`: the most spent first; `burn`: the most spent per day first',
  })
  sort?: 'available' | 'spent' | 'burn';
}

/** Query of GET /admin/accounts/{id}/ledger and GET /admin/ledger. */
export class LedgerQuery extends OwnLedgerQuery {
  @Text({
    max: MAX_IDEMPOTENCY_KEY,
    ...optional,
    description: 'Key with which a credit, correction or refund was made',
  })
  idempotency_key?: string;
}

/** Query of GET /admin/ledger. */
export class AllLedgerQuery extends LedgerQuery {
  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Entries of one account, by its id' })
  account_id?: string;
}

const MAX_ACTOR = 100;

/** Query of GET /admin/operator-actions. */
export class ActionsQuery extends PageQuery {
  @Text({ max: MAX_ACTOR, ...optional, description: 'Who asked, as `actor` says it' })
  actor?: string;

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Id of what was changed or made' })
  target?: string;

  @Text({
    max: MAX_ID_CHARS,
    ...optional,
    description: 'Kind of the act, such as `account:credit`',
  })
  action?: string;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, inclusive' })
  created_after?: number;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, exclusive' })
  created_before?: number;
}

/** The query with internal names. Throws 400 `invalid_request` for an empty range of times. */
export function actionQueryOf(query: ActionsQuery): ActionQuery {
  const { limit, cursor, actor, target, action } = query;
  return { limit, cursor, actor, target, action, ...timeRangeOf(query) };
}

/** Query of GET /admin/webhook-deliveries. */
export class DeliveriesQuery extends OwnDeliveriesQuery {
  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Deliveries of one account, by its id' })
  account_id?: string;

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Deliveries of one task, by its id' })
  task_id?: string;

  @Text({
    max: MAX_HOST,
    ...optional,
    description:
      'Deliveries to one host, as its URLs name it, with the port if they do: among the newest 100,000',
    example: 'hooks.example.com',
  })
  host?: string;
}
