import { OneOf, Text, Whole } from '../../common/validation/fields.js';

const MAX_CURSOR = 100;
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;
const optional = { optional: true } as const;

/** Query of every list. */
export class PageQuery {
  @Text({ max: MAX_CURSOR, ...optional, description: '`next_cursor` of the page before' })
  cursor?: string;

  @Whole({ min: 1, max: MAX_LIMIT, default: DEFAULT_LIMIT })
  limit!: number;
}

/** Query of GET /admin/executions. */
export class ExecutionsQuery extends PageQuery {
  @Text({ max: MAX_CURSOR, ...optional })
  account_id?: string;

  @OneOf(['running', 'succeeded', 'failed'], optional)
  status?: 'running' | 'succeeded' | 'failed';
}

/** Query of GET /admin/webhook-deliveries. */
export class DeliveriesQuery extends PageQuery {
  @Text({ max: MAX_CURSOR, ...optional })
  task_id?: string;

  @OneOf(['pending', 'delivered', 'failed'], optional)
  status?: 'pending' | 'delivered' | 'failed';
}
