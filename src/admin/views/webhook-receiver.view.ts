import { ApiProperty } from '@nestjs/swagger';
import { type PageView, pageOfViews, viewPage } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import type { ReceiverSum, ReceiverSums } from '../../webhooks/webhook-receivers.js';

/** What the deliveries to one host came to. */
export class WebhookReceiverView {
  @ApiProperty({ enum: ['webhook_receiver'], description: 'Says what kind of object this is' })
  object!: 'webhook_receiver';

  @ApiProperty({ example: 'hooks.example.com', description: 'Host of the URLs, with their port' })
  host!: string;

  @ApiProperty({ type: 'integer', description: 'How many accounts it is told of' })
  accounts!: number;

  @ApiProperty({ type: 'integer', description: 'Deliveries of the time' })
  deliveries!: number;

  @ApiProperty({ type: 'integer', description: 'Those that it accepted' })
  delivered!: number;

  @ApiProperty({ type: 'integer', description: 'Those of which an attempt is due or under way' })
  pending!: number;

  @ApiProperty({ type: 'integer', description: 'Those that failed for good' })
  failed!: number;

  @ApiProperty({ type: 'integer', description: 'Attempts of these deliveries' })
  attempts!: number;

  @ApiProperty({ nullable: true, type: 'integer', description: 'Half of them took at most this' })
  latency_p50_ms!: number | null;

  @ApiProperty({ nullable: true, type: 'integer', description: '99 % of them took at most this' })
  latency_p99_ms!: number | null;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    description: 'How long the longest due one waits, in seconds; null where none is due',
  })
  lag_seconds!: number | null;
}

/** The receivers, all on one page. */
export class WebhookReceiverPage extends pageOfViews(WebhookReceiverView) {
  @ApiProperty({
    type: 'integer',
    description: 'Epoch seconds from which on deliveries are in the sums',
  })
  since!: number;

  @ApiProperty({
    description: 'Whether all deliveries of the time are in the sums, or only the newest 20,000',
  })
  complete!: boolean;
}

/** How many deliveries were made due. */
export class RedeliveredView {
  @ApiProperty({ enum: ['redelivery'], description: 'Says what kind of object this is' })
  object!: 'redelivery';

  @ApiProperty({ type: 'integer', example: 3, description: 'Deliveries that are due now' })
  deliveries!: number;
}

/** The sums with the names of the wire. */
export function viewReceivers(sums: ReceiverSums): PageView<WebhookReceiverView> & {
  since: number;
  complete: boolean;
} {
  const page = viewPage({ items: sums.receivers, nextCursor: null }, viewReceiver);
  return { ...page, since: toEpochSeconds(sums.since), complete: sums.isComplete };
}

function viewReceiver(sum: ReceiverSum): WebhookReceiverView {
  return {
    object: 'webhook_receiver',
    host: sum.host,
    accounts: sum.accounts,
    deliveries: sum.deliveries,
    delivered: sum.delivered,
    pending: sum.pending,
    failed: sum.failed,
    attempts: sum.attempts,
    latency_p50_ms: sum.p50Ms,
    latency_p99_ms: sum.p99Ms,
    lag_seconds: sum.lagSeconds === null ? null : Math.floor(sum.lagSeconds),
  };
}
