import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { KeyActionsInterceptor } from '../auth/acts/key-actions.interceptor.js';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { pathId } from '../common/ids/id-params.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { DeliveryView, viewDelivery } from '../webhooks/delivery.view.js';
import { WebhookEndpointBody } from '../webhooks/endpoints/webhook-endpoint.body.js';
import {
  viewEndpoint,
  WebhookEndpointPage,
  WebhookEndpointView,
} from '../webhooks/endpoints/webhook-endpoint.view.js';
import { WebhookEndpoints } from '../webhooks/endpoints/webhook-endpoints.js';

/** Where the account is told its events, for keys with scope `manage` (API: Events of an account). */
@ApiTags('account')
@ApiKeyAuth('manage')
@UseInterceptors(KeyActionsInterceptor)
@Controller('v1/webhook-endpoints')
export class WebhookEndpointsController {
  constructor(private readonly endpoints: WebhookEndpoints) {}

  @Get()
  @ApiOperation({
    summary: 'Endpoints that are told the events of this account, newest first',
    description: 'Without their secrets.',
  })
  @ApiOkResponse({ type: WebhookEndpointPage })
  @ErrorResponses('invalid_request')
  async listWebhookEndpoints(@CurrentCaller() caller: Caller, @StrictQuery() query: PageQuery) {
    return viewPage(await this.endpoints.list(caller.accountId, query), viewEndpoint);
  }

  @Post()
  @UseGuards(JsonBodyGuard)
  @BodyExamples(WebhookEndpointBody, {
    money: {
      url: 'https://example.com/hooks/shim',
      secret: 'a-secret-of-your-own',
      events: ['balance.low', 'balance.depleted'],
    },
  })
  @ApiOperation({
    summary: 'Have an endpoint told the events of this account',
    description:
      'Each event is a delivery of its own, signed and repeated as the webhook of a task. At most 10 endpoints.',
  })
  @ApiCreatedResponse({ type: WebhookEndpointView })
  @ErrorResponses('invalid_request', 'invalid_content_type', 'conflict', 'request_too_large')
  async createWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @StrictBody() body: WebhookEndpointBody,
  ) {
    return viewEndpoint(await this.endpoints.create(caller.accountId, body));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One endpoint', description: 'Its URL and the events that it is told.' })
  @ApiOkResponse({ type: WebhookEndpointView })
  @ErrorResponses('not_found')
  async retrieveWebhookEndpoint(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return viewEndpoint(await this.endpoints.get(caller.accountId, pathId('whe', id)));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Tell an endpoint no more events',
    description: 'What it was told before is still delivered.',
  })
  @ApiNoContentResponse()
  @ErrorResponses('not_found')
  deleteWebhookEndpoint(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.endpoints.delete(caller.accountId, pathId('whe', id));
  }

  @Post(':id/test')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send an endpoint an event of type test',
    description:
      'Shows whether your receiver takes and verifies what it is sent. At most 10 tests of an account may be pending.',
  })
  @ApiAcceptedResponse({ type: DeliveryView })
  @ErrorResponses('not_found', 'conflict')
  async testWebhookEndpoint(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return viewDelivery(await this.endpoints.test(caller.accountId, pathId('whe', id)));
  }
}
