import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { fromPublicId } from '../../common/ids/public-id.js';
import type { Page, PageRequest } from '../../common/paging/page.js';
import type { Delivery } from '../../webhooks/delivery.js';
import { WebhookDeliveries } from '../../webhooks/webhook-deliveries.js';
import { TasksService } from './tasks.service.js';

/** The webhook deliveries of a task, for the holder of a key of its account. */
@Injectable()
export class TaskDeliveries {
  constructor(
    private readonly reads: TasksService,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  /** Deliveries, newest first; empty for a task without a webhook. Throws 404 `task_not_found`. */
  async list(caller: Caller, taskId: string, page: PageRequest): Promise<Page<Delivery>> {
    const { id: ownerId, accountId } = await this.reads.get(caller, taskId);
    return this.deliveries.list({ ownerId, accountId }, page);
  }

  /** Makes a delivery due now and returns it. Throws 404 `task_not_found`, 404 `not_found`. */
  async redeliver(caller: Caller, taskId: string, deliveryId: string): Promise<Delivery> {
    const { id: ownerId, accountId } = await this.reads.get(caller, taskId);
    const id = fromPublicId('whd', deliveryId);
    const delivery = id && (await this.deliveries.redeliver({ id, ownerId, accountId }));
    if (!delivery) {
      throw new GatewayError('not_found', 'The task has no such delivery.', {
        param: 'delivery_id',
      });
    }
    return delivery;
  }
}
