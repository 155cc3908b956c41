import { ApiProperty } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import { EVENT_TYPES } from './event-type.js';
import type { WebhookEndpoint } from './webhook-endpoints.js';

/** An endpoint that is told the events of its account. Its secret is never shown. */
export class WebhookEndpointView {
  @ApiProperty({
    example: 'whe_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the endpoint',
  })
  id!: string;

  @ApiProperty({ enum: ['webhook_endpoint'], description: 'Says what kind of object this is' })
  object!: 'webhook_endpoint';

  @ApiProperty({ example: 'https://example.com/hooks/shim', description: 'Where events are sent' })
  url!: string;

  @ApiProperty({ enum: EVENT_TYPES, isArray: true, description: 'Types of events that it is told' })
  events!: readonly string[];

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** A page of endpoints. */
export class WebhookEndpointPage extends pageOfViews(WebhookEndpointView) {}

/** The endpoint without its secret. */
export function viewEndpoint(endpoint: WebhookEndpoint): WebhookEndpointView {
  return {
    id: toPublicId('whe', endpoint.id),
    object: 'webhook_endpoint',
    url: endpoint.url,
    events: endpoint.events,
    created_at: toEpochSeconds(endpoint.createdAt),
  };
}
