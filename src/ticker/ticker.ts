import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { Metrics } from '../observability/metrics.js';

/** Ticks of several processes drift apart: each wait is up to a tenth longer than the interval. */
const JITTER = 0.1;

/** Work on shared state that is done again and again. */
export interface TickerJob {
  /** Unique; the label of the metrics and the name in the scheduler's registry. */
  readonly name: string;
  /** Wait between the end of one tick and the start of the next. */
  readonly intervalMs: number;
  readonly tick: () => Promise<unknown>;
}

/**
 * Runs periodic jobs on shared state: with jitter, never two ticks of a job at once, until the gateway drains. An error is
 * logged and counted, and the next tick comes as usual. With `ROLE=api` nothing runs, for another process does the work.
 */
@Injectable()
export class Ticker implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Ticker.name);
  private readonly running = new Map<string, Promise<void>>();
  private stopped = false;

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'role'>,
  ) {}

  /** Runs the job's first tick after one interval. */
  start(job: TickerJob): void {
    if (this.config.role !== 'api') this.schedule(job);
  }

  /** Starts no tick any more and waits for those under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const name of this.registry.getTimeouts()) {
      if (name.startsWith(PREFIX)) this.registry.deleteTimeout(name);
    }
    await Promise.all(this.running.values());
  }

  /** {@link stop}, for an application that is closed without a drain. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private schedule(job: TickerJob): void {
    if (this.stopped) return;
    const waitMs = job.intervalMs * (1 + Math.random() * JITTER);
    const dueMs = this.clock.nowMs() + waitMs;
    const timer = setTimeout(() => {
      this.registry.deleteTimeout(PREFIX + job.name);
      this.metrics.tickerLagSeconds.set(
        { job: job.name },
        Math.max(0, this.clock.nowMs() - dueMs) / 1000,
      );
      const run = this.run(job).finally(() => {
        this.running.delete(job.name);
        this.schedule(job);
      });
      this.running.set(job.name, run);
    }, waitMs).unref();
    this.registry.addTimeout(PREFIX + job.name, timer);
  }

  private async run(job: TickerJob): Promise<void> {
    try {
      await job.tick();
    } catch (error) {
      this.metrics.tickerErrors.inc({ job: job.name });
      this.logger.error(`${job.name}: ${String(error)}`);
    }
  }
}

/** Names of our timeouts in the scheduler's registry. */
const PREFIX = 'ticker:';
