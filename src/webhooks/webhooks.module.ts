import { Module } from '@nestjs/common';
import { KeyExpiryEvents } from './endpoints/key-expiry-events.js';
import { WebhookEndpoints } from './endpoints/webhook-endpoints.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookReceivers } from './webhook-receivers.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookUrlPolicy } from './webhook-url-policy.js';
import { WebhookWorker } from './webhook-worker.js';

/** Delivers bodies to callers' URLs. The module knows bytes and URLs, but no tasks. */
@Module({
  providers: [
    WebhookDeliveries,
    WebhookReceivers,
    WebhookSecrets,
    WebhookUrlPolicy,
    WebhookSender,
    WebhookMetrics,
    WebhookWorker,
    WebhookEndpoints,
    KeyExpiryEvents,
  ],
  exports: [
    WebhookDeliveries,
    WebhookReceivers,
    WebhookEndpoints,
    WebhookSecrets,
    WebhookUrlPolicy,
    WebhookWorker,
  ],
})
export class WebhooksModule {}
