import { Controller, Get, HttpCode, Param, Post, UseInterceptors } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { KeyActionsInterceptor } from '../auth/acts/key-actions.interceptor.js';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { notFound, pathId } from '../common/ids/id-params.js';
import { viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { deliveryFilterOf, OwnDeliveriesQuery } from '../webhooks/deliveries.query.js';
import { DeliveryPage, DeliveryView, viewDelivery } from '../webhooks/delivery.view.js';
import { WebhookDeliveries } from '../webhooks/webhook-deliveries.js';

/** What was sent to the receivers of the account: webhooks of its tasks, and its events (API: Events of an account). */
@ApiTags('account')
@ApiKeyAuth('manage')
@UseInterceptors(KeyActionsInterceptor)
@Controller('v1/webhook-deliveries')
export class AccountDeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveries) {}

  @Get()
  @ApiOperation({
    summary: 'Deliveries of this account with their attempts, newest first',
    description: 'Events of the account and webhooks of its tasks.',
  })
  @ApiOkResponse({ type: DeliveryPage })
  @ErrorResponses('invalid_request')
  async listDeliveries(
    @CurrentCaller() { accountId }: Caller,
    @StrictQuery() query: OwnDeliveriesQuery,
  ) {
    const filter = { ...deliveryFilterOf(query), accountId };
    return viewPage(await this.deliveries.list(filter, query), viewDelivery);
  }

  @Post(':id/redeliver')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Make the next attempt of a delivery now',
    description: 'The attempt is added to the same delivery.',
  })
  @ApiAcceptedResponse({ type: DeliveryView })
  @ErrorResponses('not_found')
  async redeliverDelivery(@CurrentCaller() { accountId }: Caller, @Param('id') id: string) {
    const delivery = await this.deliveries.redeliver({ id: pathId('whd', id), accountId });
    if (!delivery) throw notFound('whd');
    return viewDelivery(delivery);
  }
}
