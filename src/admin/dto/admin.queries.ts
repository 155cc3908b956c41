import { PageQuery } from '../../common/paging/page.query.js';
import {
  CORRECTION_KINDS,
  type CorrectionKind,
  type LedgerEntry,
  REFUND_REASONS,
  type RefundReason,
} from '../../billing/ledger-entry.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { timeRangeOf } from '../../common/time/time-range.js';
import { ModelId, Enum, Text, Int } from '../../common/validation/fields.js';
import { ExecutionsQuery } from '../../billing/calls/dto/executions.query.js';
import type { ActionQuery } from '../../auth/acts/operator-actions.js';

const MAX_ID = 100;
const MAX_NAME = 200;
const MAX_IDEMPOTENCY_KEY = 200;
const MAX_LEDGER_ROWS = 10_000;
const optional = { optional: true } as const;

/** Query of GET /admin/executions. */
export class AdminExecutionsQuery extends ExecutionsQuery {
  @Text({ max: MAX_ID, ...optional, description: 'Calls of one account, by its id' })
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
}

/** Query of GET /admin/accounts/{id}/ledger and GET /admin/ledger. */
export class LedgerQuery {
  @Int({
    min: 1,
    max: MAX_LEDGER_ROWS,
    ...optional,
    description: 'JSON: at most 100, 20 unless asked. CSV: at most 10,000, 1,000 unless asked',
  })
  limit?: number;

  @Text({ max: MAX_ID, ...optional, description: '`next_cursor` of the page before' })
  cursor?: string;

  @Enum(['json', 'csv'], { default: 'json', description: 'JSON or CSV' })
  format!: 'json' | 'csv';

  @Enum(['credit', 'correction', 'charge'], { ...optional, description: 'Entries of one kind' })
  kind?: LedgerEntry['kind'];

  @Enum(CORRECTION_KINDS, {
    ...optional,
    description:
      'Of corrections: refund (an operator gave a charge back), reversal (an error did), adjustment (an operator set the balance right)',
  })
  correction_kind?: CorrectionKind;

  @Enum(REFUND_REASONS, { ...optional, description: 'Why it was refunded or corrected' })
  reason?: RefundReason;

  @Text({
    max: MAX_IDEMPOTENCY_KEY,
    ...optional,
    description: 'Key with which a credit, correction or refund was made',
  })
  idempotency_key?: string;

  @ModelId({ ...optional, description: 'Of the call or task' })
  model?: string;

  @Text({ max: MAX_ID, ...optional, description: 'Key of the call or task, by its id' })
  api_key_id?: string;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, inclusive' })
  created_after?: number;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, exclusive' })
  created_before?: number;
}

/** Query of GET /admin/ledger. */
export class AllLedgerQuery extends LedgerQuery {
  @Text({ max: MAX_ID, ...optional, description: 'Entries of one account, by its id' })
  account_id?: string;
}

const MAX_ACTOR = 100;

/** Query of GET /admin/operator-actions. */
export class ActionsQuery extends PageQuery {
  @Text({ max: MAX_ACTOR, ...optional, description: 'Who asked, as `actor` says it' })
  actor?: string;

  @Text({ max: MAX_ID, ...optional, description: 'Id of what was changed or made' })
  target?: string;

  @Text({ max: MAX_ID, ...optional, description: 'Kind of the act, such as `account:credit`' })
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
export class DeliveriesQuery extends PageQuery {
  @Text({ max: MAX_ID, ...optional, description: 'Deliveries of one task, by its id' })
  task_id?: string;

  @Enum(['pending', 'delivered', 'failed'], {
    ...optional,
    description: 'Deliveries in one status',
  })
  status?: 'pending' | 'delivered' | 'failed';
}
