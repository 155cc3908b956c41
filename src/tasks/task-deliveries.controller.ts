import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { PageQuery } from '../common/paging/page.query.js';
import { type PageView, viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { DeliveryPage, DeliveryView, viewDelivery } from '../webhooks/delivery.view.js';
import { TaskDeliveries } from './reads/task-deliveries.js';

/** Deliveries of the webhooks of the caller's tasks (API: GET /v1/tasks/{id}/deliveries). */
@ApiTags('tasks')
@ApiKeyAuth('call')
@Controller('v1/tasks/:id/deliveries')
export class TaskDeliveriesController {
  constructor(private readonly deliveries: TaskDeliveries) {}

  @Get()
  @ApiOperation({
    summary: 'Webhook deliveries of a task with their attempts, newest delivery first',
    description:
      'Shows whether your receiver got the webhook of the task, and what it answered to each attempt.',
  })
  @ApiOkResponse({ type: DeliveryPage })
  @ErrorResponses('invalid_request', 'task_not_found')
  async listTaskDeliveries(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @StrictQuery() query: PageQuery,
  ): Promise<PageView<DeliveryView>> {
    return viewPage(await this.deliveries.list(caller, id, query), viewDelivery);
  }

  @Post(':delivery_id/redeliver')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Make the next attempt of a delivery now',
    description:
      'For a webhook that your receiver missed. The attempt is added to the same delivery.',
  })
  @ApiAcceptedResponse({ type: DeliveryView })
  @ErrorResponses('task_not_found', 'not_found')
  async redeliverTaskDelivery(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('delivery_id') deliveryId: string,
  ): Promise<DeliveryView> {
    return viewDelivery(await this.deliveries.redeliver(caller, id, deliveryId));
  }
}
