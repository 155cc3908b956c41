import { Injectable } from '@nestjs/common';
import { viewEndpoint } from '../webhooks/endpoints/webhook-endpoint.view.js';
import { AdminTasksService } from './admin-tasks.service.js';
import { DeliveriesService } from './deliveries.service.js';
import { OperatorEndpoints } from './operator-endpoints.js';
import { OperatorKeys } from './operator-keys.js';
import { OperatorPriceBooks } from './operator-price-books.js';
import { OperatorService } from './operator.service.js';
import { viewAccount } from './views/account-record.view.js';
import { viewAdminDelivery } from './views/admin-delivery.view.js';
import { viewAdminExecution } from './views/admin-execution.view.js';
import { viewKey } from '../auth/api-key.view.js';
import { viewPriceBook } from './views/price-book.view.js';

/** The services that read what operators change. */
export interface TargetServices {
  readonly operator: OperatorService;
  readonly keys: OperatorKeys;
  readonly deliveries: DeliveriesService;
  readonly endpoints: OperatorEndpoints;
  readonly priceBooks: OperatorPriceBooks;
  /** Absent where no command about tasks runs. */
  readonly tasks?: AdminTasksService;
}

/**
 * What has this id, as operators see it. An id of no kind is that of a price book, which an operator has named. Throws 404
 * `not_found`.
 */
export async function readTarget(services: Partial<TargetServices>, id: string): Promise<unknown> {
  const [kind = ''] = id.split('_');
  return (READERS[kind] ?? readPriceBook)(services, id);
}

type Reader = (services: Partial<TargetServices>, id: string) => Promise<unknown>;

const READERS: Readonly<Record<string, Reader>> = {
  acct: async ({ operator }, id) => operator && viewAccount(await operator.account(id)),
  exec: async ({ operator }, id) => operator && viewAdminExecution(await operator.execution(id)),
  key: async ({ keys }, id) => keys && viewKey(await keys.get(id)),
  whd: async ({ deliveries }, id) => deliveries && viewAdminDelivery(await deliveries.get(id)),
  whe: async ({ endpoints }, id) => endpoints && viewEndpoint(await endpoints.get(id)),
  task: async ({ tasks }, id) => tasks?.get(id),
};
const readPriceBook: Reader = async ({ priceBooks }, id) =>
  priceBooks && viewPriceBook(await priceBooks.get(id));

/** {@link readTarget} for the operator API. */
@Injectable()
export class OperatorTargets {
  private readonly services: TargetServices;

  constructor(
    operator: OperatorService,
    keys: OperatorKeys,
    deliveries: DeliveriesService,
    endpoints: OperatorEndpoints,
    priceBooks: OperatorPriceBooks,
    tasks: AdminTasksService,
  ) {
    this.services = { operator, keys, deliveries, endpoints, priceBooks, tasks };
  }

  read(id: string): Promise<unknown> {
    return readTarget(this.services, id);
  }
}
