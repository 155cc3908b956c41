import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { FastExpressAdapter } from '../platform/http-server/connections/fast-express.adapter.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { LOGGER } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import { bucketOfRequests } from './load-shedding.setup.js';

/**
 * Enables the limit of response memory: the slowest clients are disconnected while buffered responses have more than
 * `UNREAD_ANSWERS_MAX_BYTES`.
 */
export function setUpResponseMemoryLimit(app: NestExpressApplication): void {
  const adapter = app.getHttpAdapter();
  // The OpenAPI document is generated without a server.
  if (!(adapter instanceof FastExpressAdapter)) return;
  const { unreadAnswersMaxBytes: maxBytes } = app.get<GatewayConfig>(GATEWAY_CONFIG);
  const logger = app.get<Logger>(LOGGER);
  const metrics = app.get(Metrics);
  const bytes = adapter.setUpResponseMemoryLimit({
    maxBytes,
    bucketOf: bucketOfRequests(app),
    onDisconnected: (clients) => {
      metrics.slowClientsDisconnected.inc(clients);
      logger.warn(
        { clients },
        'slow clients disconnected: response memory is above UNREAD_ANSWERS_MAX_BYTES',
      );
    },
  });
  metrics.watch(
    'gateway_response_buffer_bytes',
    'Bytes of responses in memory that their clients have not taken',
    bytes,
  );
}
