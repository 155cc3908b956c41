import { Injectable } from '@nestjs/common';
import { filterId, notFound, pathId } from '../common/ids/id-params.js';
import type { Page } from '../common/paging/page.js';
import type { Delivery } from '../webhooks/delivery.js';
import { deliveryFilterOf } from '../webhooks/deliveries.query.js';
import { WebhookDeliveries } from '../webhooks/webhook-deliveries.js';
import type { DeliveriesQuery } from './dto/admin.queries.js';

/** What operators do with webhook deliveries. Ids are public ids. */
@Injectable()
export class DeliveriesService {
  constructor(private readonly deliveries: WebhookDeliveries) {}

  /** Newest first; 400 invalid_request for an invalid `account_id`, `task_id` or `endpoint_id`. */
  async list(query: DeliveriesQuery): Promise<Page<Delivery>> {
    const accountId = filterId('acct', 'account_id', query.account_id);
    const ownerId = filterId('task', 'task_id', query.task_id);
    const host = query.host?.toLowerCase();
    return this.deliveries.list({ ...deliveryFilterOf(query), accountId, ownerId, host }, query);
  }

  /** 404 not_found. */
  async get(publicId: string): Promise<Delivery> {
    const delivery = await this.deliveries.find(pathId('whd', publicId));
    if (!delivery) throw notFound('whd');
    return delivery;
  }

  /** Makes a delivery due now and returns it. 404 not_found. */
  async redeliver(publicId: string): Promise<Delivery> {
    const delivery = await this.deliveries.redeliver({ id: pathId('whd', publicId) });
    if (!delivery) throw notFound('whd');
    return delivery;
  }
}
