import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { WebhookEndpointBody } from '../webhooks/endpoints/webhook-endpoint.body.js';
import {
  viewEndpoint,
  WebhookEndpointPage,
  WebhookEndpointView,
} from '../webhooks/endpoints/webhook-endpoint.view.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { OperatorEndpoints } from './operator-endpoints.js';
import { AdminDeliveryView, viewAdminDelivery } from './views/admin-delivery.view.js';

/** Where an account is told its events (API: Events of an account), for operators. */
@OperatorEndpoint()
@Controller('admin/accounts/:id/webhook-endpoints')
export class AdminWebhookEndpointsController {
  constructor(private readonly endpoints: OperatorEndpoints) {}

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Endpoints that are told the events of an account, newest first',
    description: 'Without their secrets.',
  })
  @ApiOkResponse({ type: WebhookEndpointPage })
  async listAdminWebhookEndpoints(@Param('id') id: string, @StrictQuery() query: PageQuery) {
    return viewPage(await this.endpoints.list(id, query), viewEndpoint);
  }

  @Post()
  @NeedsRole('support')
  @TakesJson()
  @BodyExamples(WebhookEndpointBody, {
    money: {
      url: 'https://example.com/hooks/shim',
      secret: 'a-secret-of-your-own',
      events: ['balance.low', 'balance.depleted'],
    },
  })
  @ApiOperation({
    summary: 'Have an endpoint told the events of an account',
    description: 'As its holder may with a key of scope `manage`. At most 10 endpoints.',
  })
  @ApiCreatedResponse({ type: WebhookEndpointView })
  @ErrorResponses('invalid_request', 'invalid_content_type', 'request_too_large')
  async createAdminWebhookEndpoint(
    @Param('id') id: string,
    @StrictBody() body: WebhookEndpointBody,
  ) {
    return viewEndpoint(await this.endpoints.create(id, body));
  }

  @Get(':endpoint_id')
  @NeedsRole('viewer')
  @ApiOperation({ summary: 'One endpoint', description: 'Its URL and the events that it is told.' })
  @ApiOkResponse({ type: WebhookEndpointView })
  async retrieveAdminWebhookEndpoint(
    @Param('id') id: string,
    @Param('endpoint_id') endpointId: string,
  ) {
    return viewEndpoint(await this.endpoints.get(endpointId, id));
  }

  @Delete(':endpoint_id')
  @NeedsRole('support')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Tell an endpoint no more events',
    description: 'What it was told before is still delivered.',
  })
  @ApiNoContentResponse()
  deleteAdminWebhookEndpoint(
    @Param('id') id: string,
    @Param('endpoint_id') endpointId: string,
  ): Promise<void> {
    return this.endpoints.delete(endpointId, id);
  }

  @Post(':endpoint_id/test')
  @NeedsRole('support')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send an endpoint an event of type test',
    description:
      'Shows whether its receiver takes and verifies what it is sent. At most 10 tests of an account may be pending.',
  })
  @ApiAcceptedResponse({ type: AdminDeliveryView })
  async testAdminWebhookEndpoint(
    @Param('id') id: string,
    @Param('endpoint_id') endpointId: string,
  ) {
    return viewAdminDelivery(await this.endpoints.test(endpointId, id));
  }
}
