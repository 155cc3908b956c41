import { Module } from '@nestjs/common';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookTargets } from './webhook-targets.js';

/** Deliveries of final states to the callers' URLs: bytes and URLs, no tasks. */
@Module({
  providers: [WebhookDeliveries, WebhookSecrets, WebhookTargets],
  exports: [WebhookDeliveries, WebhookSecrets, WebhookTargets],
})
export class WebhooksModule {}
