import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { currentExchange } from '../common/http/exchange-scope.js';
import { LOGGER } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';

/** Turns what the router sees of providers into metrics and the request's own time, and a tripped breaker into a log line. */
@Injectable()
export class UpstreamWatch {
  constructor(router: ProviderRouter, metrics: Metrics, @Inject(LOGGER) logger: Logger) {
    router.observe({
      onCall: ({ provider, operation, outcome, durationMs }) => {
        const request = currentExchange()?.request;
        if (request) request.upstreamMs = (request.upstreamMs ?? 0) + durationMs;
        metrics.upstreamSeconds.observe({ provider, operation, outcome }, durationMs / 1000);
      },
      onBreakerChange: ({ provider, operation, state }) => {
        metrics.breakers.set({ provider, operation }, state === 'closed' ? 0 : 1);
        logger.warn({ provider, operation, state }, 'circuit breaker changed');
      },
    });
  }
}
