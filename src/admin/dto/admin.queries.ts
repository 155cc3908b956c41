import { PageQuery } from '../../common/paging/page.query.js';
import { OneOf, Text } from '../../common/validation/fields.js';
import { ExecutionsQuery } from '../../executions/dto/executions.query.js';

const MAX_ID = 100;
const optional = { optional: true } as const;

/** Query of GET /admin/executions. */
export class AdminExecutionsQuery extends ExecutionsQuery {
  @Text({ max: MAX_ID, ...optional })
  account_id?: string;
}

/** Query of GET /admin/webhook-deliveries. */
export class DeliveriesQuery extends PageQuery {
  @Text({ max: MAX_ID, ...optional })
  task_id?: string;

  @OneOf(['pending', 'delivered', 'failed'], optional)
  status?: 'pending' | 'delivered' | 'failed';
}
