import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { Metrics } from '../platform/observability/metrics.js';
import { CachedSample } from '../platform/observability/cached-sample.js';
import type { DeliveryAttempt } from './delivery.js';
import type { NextStep } from './retry-schedule.js';

const LATENCY_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Deliveries that are due and not begun. */
export interface OverdueDeliveries {
  readonly count: number;
  /** How long the oldest of them is due; 0 without one. */
  readonly ageSeconds: number;
}

const OVERDUE = `
  SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "ageSeconds"
    FROM webhook_delivery WHERE status = 'pending' AND due_at <= now()`;

/** Reads them by the index of what is due. */
export async function readOverdueDeliveries(dataSource: DataSource): Promise<OverdueDeliveries> {
  const [row] = await dataSource.query<OverdueDeliveries[]>(OVERDUE);
  return row ?? { count: 0, ageSeconds: 0 };
}

/** Metrics of webhook deliveries. */
@Injectable()
export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>;
  private readonly seconds: Histogram;

  constructor(
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    const registers = [metrics.registry];
    this.attempts = new Counter({
      name: 'gateway_webhook_attempts_total',
      help: 'Attempts by what followed: delivered, failed (for good), or pending (another attempt)',
      labelNames: ['outcome'] as const,
      registers,
    });
    this.seconds = new Histogram({
      name: 'gateway_webhook_attempt_duration_seconds',
      help: 'Time until the receiver answered or the attempt failed',
      buckets: LATENCY_BUCKETS_SECONDS,
      registers,
    });
  }

  /** Counts an attempt. */
  count({ durationMs }: DeliveryAttempt, { status }: NextStep): void {
    this.attempts.inc({ outcome: status });
    this.seconds.observe(durationMs / 1_000);
  }

  /**
   * Publishes the number of running attempts, and the number and age of due deliveries that were not started. The latter are
   * absent while the database does not respond.
   */
  watch(dataSource: DataSource, inFlight: () => number): void {
    const registers = [this.metrics.registry];
    new Gauge({
      name: 'gateway_webhook_attempts_in_flight',
      help: 'Attempts under way in this process',
      registers,
      collect() {
        this.set(inFlight());
      },
    });
    const sample = new CachedSample(this.clock, () => readOverdueDeliveries(dataSource));
    this.metrics.watchDatabase(
      'gateway_webhooks_overdue',
      'Deliveries due and not begun',
      async () => (await sample.read())?.count,
    );
    this.metrics.watchDatabase(
      'gateway_webhooks_lag_seconds',
      'How long the oldest of them is due',
      async () => (await sample.read())?.ageSeconds,
    );
  }
}
