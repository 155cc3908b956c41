import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { fromPublicId } from '../common/ids/public-id.js';
import type { Page } from '../common/paging/page.js';
import type { Delivery } from '../webhooks/delivery.js';
import { WebhookDeliveries } from '../webhooks/webhook-deliveries.js';
import type { DeliveriesQuery } from './dto/admin.queries.js';

/** What operators do with webhook deliveries. Ids are public ids. */
@Injectable()
export class DeliveriesService {
  constructor(private readonly deliveries: WebhookDeliveries) {}

  /** Newest first; 400 invalid_request for a `task_id` that is no task's. */
  list({ task_id: taskId, status, ...page }: DeliveriesQuery): Promise<Page<Delivery>> {
    const ownerId = taskId === undefined ? undefined : fromPublicId('task', taskId);
    if (taskId !== undefined && ownerId === undefined) {
      throw new GatewayError('invalid_request', 'task_id is not the id of a task.', {
        param: 'task_id',
      });
    }
    return this.deliveries.list({ ownerId, status }, page);
  }

  /** Makes a delivery due now and returns it. 404 not_found. */
  async redeliver(publicId: string): Promise<Delivery> {
    const id = fromPublicId('whd', publicId);
    const delivery = id && (await this.deliveries.redeliver({ id }));
    if (!delivery) throw new GatewayError('not_found', 'No such delivery.', { param: 'id' });
    return delivery;
  }
}
