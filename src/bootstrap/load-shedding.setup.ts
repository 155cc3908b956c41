import type { IncomingMessage } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import type { Logger } from 'pino';
import { KeyCache } from '../auth/key-cache.js';
import { UnknownKeyLimiter } from '../auth/unknown-key-limiter.js';
import { fairnessBucketOf } from '../auth/fairness-bucket.js';
import { FastExpressAdapter } from '../platform/http-server/connections/fast-express.adapter.js';
import { LoadShedder } from '../platform/http-server/load-shedding/load-shedder.js';
import {
  type HeaderMiddleware,
  OverloadRefusal,
} from '../platform/http-server/load-shedding/overload-refusal.js';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { familyOfRequest } from './request-family.js';
import { ExecutionLedger } from '../billing/calls/execution-ledger.js';
import { LOGGER } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';

/** Refusals are logged at most once in this time. */
const REPORT_MS = 10_000;

/**
 * Enables load shedding with these headers: callers are refused while more requests wait than `MAX_WAITING_REQUESTS`
 * allows (decision G-100), unless that is 0.
 */
export function setUpLoadShedding(
  app: NestExpressApplication,
  headers: readonly HeaderMiddleware[],
): void {
  const { maxWaitingRequests: maxWaiting } = app.get<GatewayConfig>(GATEWAY_CONFIG);
  if (maxWaiting === 0) return;
  const adapter = app.getHttpAdapter();
  // The OpenAPI document is generated without a server.
  if (!(adapter instanceof FastExpressAdapter)) return;
  const bucketOf = bucketOfRequests(app);
  const holds = app.get(ExecutionLedger, { strict: false }).waiting;
  adapter.guard({
    shedder: new LoadShedder({
      maxWaiting,
      bucketOf,
      holds,
      nowMs: () => performance.now(),
    }),
    refusal: new OverloadRefusal(headers, refusalCount(app), familyOfRequest),
  });
}

/** The fairness bucket of a request, by what is known before authentication. */
export function bucketOfRequests(
  app: NestExpressApplication,
): (request: IncomingMessage) => string {
  const holder = fairnessBucketOf(
    app.get(KeyCache, { strict: false }),
    app.get(UnknownKeyLimiter, { strict: false }),
  );
  // The adapter creates every request with the prototype of Express.
  return (request) => holder(request as Request);
}

/** Counts refusals, and logs their number from time to time: a line for each would cost too much. */
function refusalCount(app: NestExpressApplication): () => void {
  const { overloadRefusals } = app.get(Metrics);
  const logger = app.get<Logger>(LOGGER);
  const clock = app.get(Clock);
  let refused = 0;
  let reportedMs = -Infinity;
  return () => {
    overloadRefusals.inc();
    refused += 1;
    const now = clock.nowMs();
    if (now - reportedMs < REPORT_MS) return;
    logger.warn(
      { refused },
      'More requests come than this process can do; some are refused with 503',
    );
    refused = 0;
    reportedMs = now;
  };
}
