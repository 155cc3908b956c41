import { ApiProperty } from '@nestjs/swagger';
import { pageOfViews } from '../common/paging/page.view.js';
import { toPublicId } from '../common/ids/public-id.js';
import { toEpochSeconds } from '../common/time/clock.js';
import type { Delivery } from './delivery.js';

/** One POST to the receiver. */
class AttemptView {
  @ApiProperty({ description: 'Epoch seconds' })
  at!: number;

  @ApiProperty({ nullable: true, type: Number, description: 'Null where no answer came' })
  status_code!: number | null;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Why no answer came',
    example: 'timeout',
  })
  error!: string | null;

  @ApiProperty({ description: 'Milliseconds that the attempt took' })
  duration_ms!: number;
}

/** A webhook delivery with its newest attempts (API: GET /v1/tasks/{id}/deliveries). Its secret is never shown. */
export class DeliveryView {
  @ApiProperty({
    example: 'whd_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the delivery',
  })
  id!: string;

  @ApiProperty({ enum: ['webhook_delivery'], description: 'Says what kind of object this is' })
  object!: 'webhook_delivery';

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Task that the webhook tells of; null for an event of the account',
  })
  task_id!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Endpoint of the account that is told the event; null for a webhook of a task',
  })
  endpoint_id!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Type of the event of the account, such as `balance.low`; null for a task',
  })
  event!: string | null;

  @ApiProperty({ example: 'https://example.com/hooks/shim', description: 'Where it is sent' })
  url!: string;

  @ApiProperty({
    enum: ['pending', 'delivered', 'failed'],
    description:
      '`pending` until an attempt is answered with 2xx (`delivered`) or none is left (`failed`)',
  })
  status!: string;

  @ApiProperty({ type: [AttemptView], description: 'The newest 100 attempts, oldest first' })
  attempts!: AttemptView[];

  @ApiProperty({
    nullable: true,
    type: Number,
    description: 'Epoch seconds; null when none is due',
  })
  next_attempt_at!: number | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** A page of deliveries. */
export class DeliveryPage extends pageOfViews(DeliveryView) {}

/** A delivery as its account and the operator see it. */
export function viewDelivery(delivery: Delivery): DeliveryView {
  const { nextAttemptAt } = delivery;
  const isOfTask = delivery.event === null;
  return {
    id: toPublicId('whd', delivery.id),
    object: 'webhook_delivery',
    task_id: isOfTask ? toPublicId('task', delivery.ownerId) : null,
    endpoint_id: isOfTask ? null : toPublicId('whe', delivery.ownerId),
    event: delivery.event,
    url: delivery.url,
    status: delivery.status,
    attempts: delivery.attempts.map((attempt) => ({
      at: toEpochSeconds(attempt.startedAt),
      status_code: attempt.statusCode,
      error: attempt.error,
      duration_ms: attempt.durationMs,
    })),
    next_attempt_at: nextAttemptAt === null ? null : toEpochSeconds(nextAttemptAt),
    created_at: toEpochSeconds(delivery.createdAt),
  };
}
