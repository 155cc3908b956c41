import { PageQuery } from '../../common/paging/page.query.js';
import type { LedgerEntry } from '../../billing/ledger-entry.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { ModelId, Enum, Text, Int } from '../../common/validation/fields.js';
import { ExecutionsQuery } from '../../billing/calls/dto/executions.query.js';

const MAX_ID = 100;
const MAX_NAME = 200;
const optional = { optional: true } as const;

/** Query of GET /admin/executions. */
export class AdminExecutionsQuery extends ExecutionsQuery {
  @Text({ max: MAX_ID, ...optional })
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

/** Query of GET /admin/accounts/{id}/ledger. */
export class LedgerQuery extends PageQuery {
  @Enum(['credit', 'correction', 'charge'], optional)
  kind?: LedgerEntry['kind'];

  @ModelId({ ...optional, description: 'Of the call or task' })
  model?: string;

  @Text({ max: MAX_ID, ...optional, description: 'Key of the call or task, by its id' })
  api_key_id?: string;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, inclusive' })
  created_after?: number;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, exclusive' })
  created_before?: number;
}

/** Query of GET /admin/webhook-deliveries. */
export class DeliveriesQuery extends PageQuery {
  @Text({ max: MAX_ID, ...optional })
  task_id?: string;

  @Enum(['pending', 'delivered', 'failed'], optional)
  status?: 'pending' | 'delivered' | 'failed';
}
