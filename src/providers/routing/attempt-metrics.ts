import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { Clock } from '../../common/time/clock.js';
import { LOGGER } from '../../platform/observability/logger.js';
import { Metrics } from '../../platform/observability/metrics.js';
import type { AttemptOutcome, Route } from '../ports/attempt.js';
import type { BreakerState } from './circuit-breaker.js';
import { RouteFigures } from './route-figures.js';

/**
 * One finished attempt at a provider. `durationMs` ends at the first usable byte of a stream, at the end of any other
 * response, or at the failure.
 */
export interface AttemptObservation {
  readonly provider: string;
  readonly route: Pick<Route, 'provider' | 'upstreamModel'>;
  readonly operation: string;
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  /** Which of the provider's keys, such as `key-1`. */
  readonly key: string;
}

/** A circuit breaker that opened, closed or probes. */
export interface BreakerChange {
  readonly provider: string;
  readonly operation: string;
  readonly state: BreakerState;
}

/** Minimum interval of the log line that a provider rejects our account. */
const ACCOUNT_LOG_MS = 60_000;

/**
 * Reports attempts to the metrics and the figures of the routes, breaker changes to a metric and the log, and, at most once a
 * minute, to the log that a provider rejects our key or that our credit there is used up.
 */
@Injectable()
export class AttemptMetrics {
  private readonly accountLoggedAtMs = new Map<string, number>();

  constructor(
    private readonly metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly clock: Clock,
    private readonly figures: RouteFigures,
  ) {}

  attempted(observation: AttemptObservation): void {
    const { provider, route, operation, outcome, durationMs, key } = observation;
    this.figures.count({ route, operation, outcome, durationMs });
    this.metrics.upstreamSeconds.observe({ provider, operation, outcome }, durationMs / 1000);
    if (outcome === 'account') this.accountRefused(provider, key);
  }

  private accountRefused(provider: string, key: string): void {
    const nowMs = this.clock.nowMs();
    const name = `${provider} ${key}`;
    if (nowMs - (this.accountLoggedAtMs.get(name) ?? -Infinity) < ACCOUNT_LOG_MS) return;
    this.accountLoggedAtMs.set(name, nowMs);
    this.logger.error(
      { provider, key },
      'a provider refuses our key, or our account has no more credit',
    );
  }

  breakerChanged({ provider, operation, state }: BreakerChange): void {
    this.figures.breaker({ provider, operation, state });
    this.metrics.breakers.set({ provider, operation }, state === 'closed' ? 0 : 1);
    this.logger.warn({ provider, operation, state }, 'circuit breaker changed');
  }
}
