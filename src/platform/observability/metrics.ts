import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { TokenCounts } from '../../common/money/charge-basis.js';
import { GATEWAY_VERSION } from '../../common/version.js';
import { shareMetrics } from './cluster-metrics.js';

const LATENCY_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const STATEMENT_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
/** What a process asks of the store of files. */
const STORAGE_OPERATIONS = ['read', 'write', 'remove'] as const;

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
  readonly refusals = new Counter({
    name: 'gateway_refusals_total',
    help: 'Requests answered with an error, by its code',
    labelNames: ['code'] as const,
    registers: [this.registry],
  });
  readonly redisFallbacks = new Counter({
    name: 'gateway_redis_fallbacks_total',
    help: 'Rate limits that this process decided alone, because Redis did not',
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
  readonly modelUpstreamSeconds = new Histogram({
    name: 'gateway_model_upstream_duration_seconds',
    help: 'Time from the first request to a provider to the end of its answer, of calls that succeeded, by model',
    labelNames: ['model'] as const,
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  readonly firstTokenSeconds = new Histogram({
    name: 'gateway_time_to_first_token_seconds',
    help: 'Time from the admission of a call to the first token or byte of its streamed answer, by model',
    labelNames: ['model'] as const,
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  readonly tokens = new Counter({
    name: 'gateway_tokens_total',
    help: 'Tokens that were charged, by model and type; cached_input is a part of input, reasoning of output',
    labelNames: ['model', 'type'] as const,
    registers: [this.registry],
  });
  readonly statementSeconds = new Histogram({
    name: 'gateway_database_statement_duration_seconds',
    help: 'Time of a prepared statement with its wait for a connection, by name',
    labelNames: ['statement'] as const,
    buckets: STATEMENT_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  readonly storageErrors = new Counter({
    name: 'gateway_storage_errors_total',
    help: 'Files that could not be read, written or removed where STORAGE_URL says',
    labelNames: ['operation'] as const,
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
    aggregator: 'max',
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

  private publishesDatabase = (): boolean => true;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    shareMetrics(this.registry);
    // A counter that begins with its first event has no increase for Prometheus.
    for (const operation of STORAGE_OPERATIONS) this.storageErrors.inc({ operation }, 0);
    const build = { version: GATEWAY_VERSION, node_version: process.version };
    new Gauge({
      name: 'gateway_build_info',
      help: 'Always 1; the labels say which version runs',
      labelNames: ['version', 'node_version'] as const,
      aggregator: 'first',
      registers: [this.registry],
    }).set(build, 1);
  }

  /** Publishes the figures of the whole database only while `isLeader`: the sum over all processes is then true. */
  publishDatabaseWhile(isLeader: () => boolean): void {
    this.publishesDatabase = isLeader;
  }

  /** Whether this process publishes the figures of the whole database now. */
  get showsDatabase(): boolean {
    return this.publishesDatabase();
  }

  /** Counts the tokens of a charge. */
  countTokens(model: string, counts: TokenCounts): void {
    const types = {
      input: counts.promptTokens,
      cached_input: counts.cachedTokens,
      output: counts.completionTokens,
      reasoning: counts.reasoningTokens,
    };
    for (const [type, tokens] of Object.entries(types)) {
      if (tokens !== null && tokens > 0) this.tokens.inc({ model, type }, tokens);
    }
  }

  /** Counts what a call or task cost, and whether it was sold for less; without a charge it was not sold. */
  countCost(model: string, cost: bigint | null | undefined, charge?: bigint): void {
    if (cost === null || cost === undefined) return;
    this.costMicroUsd.inc({ model }, Number(cost));
    if (charge !== undefined && cost > charge) this.soldBelowCost.inc({ model });
  }

  /**
   * Publishes a gauge of this process, which is read at each scrape. With `WORKERS` the values of all processes are added, or the
   * aggregator says which one is shown.
   */
  watch(name: string, help: string, read: () => number, aggregator: Aggregator = 'sum'): void {
    new Gauge({
      name,
      help,
      aggregator,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** {@link watch} with labels, of which `read` gives a value for each combination that there is now. */
  watchEach<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => readonly (readonly [Record<Label, string>, number])[],
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      aggregator: 'max',
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
  }

  /**
   * Publishes a gauge of the whole database. It is absent while `read` resolves to undefined, and where another process publishes
   * it; then nothing is read.
   */
  watchDatabase(name: string, help: string, read: () => Promise<number | undefined>): void {
    const shows = (): boolean => this.showsDatabase;
    new Gauge({
      name,
      help,
      aggregator: 'first',
      registers: [this.registry],
      async collect() {
        const value = shows() ? await read() : undefined;
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }
}

/** How the values of worker processes become one. */
type Aggregator = 'sum' | 'max' | 'min' | 'average';
