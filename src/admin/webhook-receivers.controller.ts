import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { Clock } from '../common/time/clock.js';
import { DAY_MS } from '../common/time/spans.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { WebhookReceivers } from '../webhooks/webhook-receivers.js';
import { failedFilterOf, ReceiversQuery, RedeliverBody } from './dto/webhook-receivers.dto.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import {
  RedeliveredView,
  viewReceivers,
  WebhookReceiverPage,
} from './views/webhook-receiver.view.js';

/** Webhooks by receiver: which one fails, and sending again what failed there (docs/guides/webhooks.md). */
@OperatorEndpoint()
@Controller('admin')
export class WebhookReceiversController {
  constructor(
    private readonly receivers: WebhookReceivers,
    private readonly clock: Clock,
  ) {}

  @Get('webhook-receivers')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Sums of webhook deliveries by receiver',
    description:
      'By the host of their URLs, of all accounts; the host where most failed comes first. At most the newest 20,000 deliveries of the time are summed up, and `since` says from when on.',
  })
  @ApiOkResponse({ type: WebhookReceiverPage })
  async listWebhookReceivers(@StrictQuery() { created_after: after }: ReceiversQuery) {
    const sinceMs = after === undefined ? this.clock.nowMs() - DAY_MS : after * 1_000;
    return viewReceivers(await this.receivers.sums(new Date(sinceMs)));
  }

  @Post('webhook-deliveries/redeliver')
  @NeedsRole('support')
  @HttpCode(202)
  @TakesJson()
  @BodyExamples(RedeliverBody, {
    host: { host: 'hooks.example.com', failed_after: 1_700_000_000 },
  })
  @ApiOperation({
    summary: 'Send failed webhook deliveries again',
    description:
      'Makes one attempt more of each due now: of at most 10,000, the newest first. What is delivered or still due is left alone. Ask again for the rest.',
  })
  @ApiAcceptedResponse({ type: RedeliveredView })
  async redeliverFailed(@StrictBody() body: RedeliverBody): Promise<RedeliveredView> {
    const deliveries = await this.receivers.redeliver(failedFilterOf(body));
    return { object: 'redelivery', deliveries };
  }
}
