import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { shareMetrics } from './cluster-metrics.js';

const LATENCY_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The state of the ledger: open holds, and the last audit (null before the first). */
export interface BookFigures {
  readonly openHolds: number;
  readonly oldestHoldAgeSeconds: number;
  readonly isAuditOk: boolean | null;
  readonly auditAgeSeconds: number | null;
}

/** The gateway's Prometheus metrics, in a registry of their own. */
export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'Answered requests by method, route and status',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [this.registry],
  });
  readonly requestSeconds = new Histogram({
    name: 'gateway_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer',
    labelNames: ['method', 'route'] as const,
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  readonly overloadRefusals = new Counter({
    name: 'gateway_overload_refusals_total',
    help: 'Requests refused unread with 503, because more came than this process could do',
    registers: [this.registry],
  });
  readonly slowClientsDisconnected = new Counter({
    name: 'gateway_slow_clients_disconnected_total',
    help: 'Slow clients disconnected because buffered responses had more than UNREAD_ANSWERS_MAX_BYTES',
    registers: [this.registry],
  });
  readonly upstreamSeconds = new Histogram({
    name: 'gateway_upstream_duration_seconds',
    help: 'Time until a provider answered, by provider, operation and outcome',
    labelNames: ['provider', 'operation', 'outcome'] as const,
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  /** Micro-USD as numbers, exact up to nine billion USD. */
  readonly heldMicroUsd = new Counter({
    name: 'gateway_held_microusd_total',
    help: 'Micro-USD held for calls and tasks that began, by model',
    labelNames: ['model'] as const,
    registers: [this.registry],
  });
  readonly chargedMicroUsd = new Counter({
    name: 'gateway_charged_microusd_total',
    help: 'Micro-USD charged, by model',
    labelNames: ['model'] as const,
    registers: [this.registry],
  });
  readonly costMicroUsd = new Counter({
    name: 'gateway_cost_microusd_total',
    help: 'Micro-USD that calls and tasks cost at their providers, where that is known, by model',
    labelNames: ['model'] as const,
    registers: [this.registry],
  });
  readonly soldBelowCost = new Counter({
    name: 'gateway_sold_below_cost_total',
    help: 'Calls and tasks that cost more at their provider than was charged, by model',
    labelNames: ['model'] as const,
    registers: [this.registry],
  });
  readonly cappedCharges = new Counter({
    name: 'gateway_capped_charges_total',
    help: 'Charges that were cut at their hold, by model',
    labelNames: ['model'] as const,
    registers: [this.registry],
  });
  readonly failedCalls = new Counter({
    name: 'gateway_failed_calls_total',
    help: 'Calls and tasks that ended without a charge because they failed, by model',
    labelNames: ['model'] as const,
    registers: [this.registry],
  });
  readonly callsLost = new Counter({
    name: 'gateway_calls_lost_total',
    help: 'Calls and tasks that were confirmed to their callers and that the database has lost since',
    registers: [this.registry],
  });
  readonly brokenStreams = new Counter({
    name: 'gateway_broken_streams_total',
    help: 'Chat streams that broke before they were whole and are free, by route',
    labelNames: ['provider', 'upstream_model'] as const,
    registers: [this.registry],
  });
  readonly uncountedReasoning = new Counter({
    name: 'gateway_uncounted_reasoning_total',
    help: 'Chat answers of models with hidden reasoning whose provider reported no usage, by route',
    labelNames: ['provider', 'upstream_model'] as const,
    registers: [this.registry],
  });
  readonly batchSize = new Histogram({
    name: 'gateway_group_commit_batch_size',
    help: 'Ledger operations committed by one statement',
    buckets: BATCH_BUCKETS,
    registers: [this.registry],
  });
  readonly breakers = new Gauge({
    name: 'gateway_circuit_breaker_open',
    help: '1 while the circuit of a route is open',
    labelNames: ['provider', 'operation'] as const,
    registers: [this.registry],
  });
  readonly tickerLagSeconds = new Gauge({
    name: 'gateway_ticker_lag_seconds',
    help: 'How late the last tick of a periodic job began',
    labelNames: ['job'] as const,
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly tickerErrors = new Counter({
    name: 'gateway_ticker_errors_total',
    help: 'Ticks of a periodic job that failed',
    labelNames: ['job'] as const,
    registers: [this.registry],
  });

  private readonly books = {
    openHolds: this.gaugeOfBooks(
      'gateway_holds_open',
      'Open holds of calls and tasks; 10,000 tasks are counted at most',
    ),
    oldestHoldAgeSeconds: this.gaugeOfBooks(
      'gateway_holds_oldest_age_seconds',
      'Age of the oldest open hold of a call',
    ),
    isAuditOk: this.gaugeOfBooks('gateway_audit_ok', '1 while the last audit found nothing'),
    auditAgeSeconds: this.gaugeOfBooks(
      'gateway_audit_age_seconds',
      'Time since the last audit of the books',
    ),
  };

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    shareMetrics(this.registry);
    this.showBooks(undefined);
  }

  /** Counts what a call or task cost, and whether it was sold for less; without a charge it was not sold. */
  countCost(model: string, cost: bigint | null | undefined, charge?: bigint): void {
    if (cost === null || cost === undefined) return;
    this.costMicroUsd.inc({ model }, Number(cost));
    if (charge !== undefined && cost > charge) this.soldBelowCost.inc({ model });
  }

  /** Publishes a gauge of this process, which is read at each scrape. */
  watch(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Publishes the figures of the ledger. Removes them if another process publishes them, or if they are unknown. */
  showBooks(figures: BookFigures | undefined): void {
    for (const [name, gauge] of Object.entries(this.books)) {
      const value = figures?.[name as keyof BookFigures] ?? undefined;
      if (value === undefined) gauge.remove();
      else gauge.set(Number(value));
    }
  }

  private gaugeOfBooks(name: string, help: string): Gauge {
    // All workers read the same database, so their values are not added.
    return new Gauge({ name, help, aggregator: 'first', registers: [this.registry] });
  }
}
