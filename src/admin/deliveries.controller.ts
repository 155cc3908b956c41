import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { viewPage } from '../common/paging/page.view.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveriesQuery } from './dto/admin.queries.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';
import {
  AdminDeliveryPage,
  AdminDeliveryView,
  viewAdminDelivery,
} from './views/admin-delivery.view.js';

/** Webhook deliveries of all accounts (docs/guides/webhooks.md). */
@OperatorEndpoint()
@Controller('admin/webhook-deliveries')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Webhook deliveries with their attempts, newest delivery first',
    description: 'Of all accounts, each with all attempts and what the receiver answered.',
  })
  @ApiOkResponse({ type: AdminDeliveryPage })
  async listAdminDeliveries(@StrictQuery() query: DeliveriesQuery) {
    return viewPage(await this.deliveries.list(query), viewAdminDelivery);
  }

  @Get(':id')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'One webhook delivery with its attempts',
    description: 'What each receiver answered, and when the next attempt is due.',
  })
  @ApiOkResponse({ type: AdminDeliveryView })
  async retrieveAdminDelivery(@Param('id') id: string): Promise<AdminDeliveryView> {
    return viewAdminDelivery(await this.deliveries.get(id));
  }

  @Post(':id/redeliver')
  @NeedsRole('support')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Make the next attempt of a delivery now',
    description:
      'Also for a delivery that has failed for good. The attempt is added to the same delivery.',
  })
  @ApiAcceptedResponse({ type: AdminDeliveryView })
  async redeliverAdminDelivery(@Param('id') id: string): Promise<AdminDeliveryView> {
    return viewAdminDelivery(await this.deliveries.redeliver(id));
  }
}
