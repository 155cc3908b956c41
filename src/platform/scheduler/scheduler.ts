import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { Metrics } from '../observability/metrics.js';

/** Each wait is up to a tenth longer than the interval, so that several processes do not tick together. */
const JITTER = 0.1;

/** Periodic work on shared state. */
export interface ScheduledJob {
  /** Unique; the label of the metrics and the name in the scheduler's registry. */
  readonly name: string;
  /** Wait between the end of one tick and the start of the next. */
  readonly intervalMs: number;
  /**
   * One run of the job. A tick that may take long must end early once the signal aborts, because the shutdown waits for
   * it.
   */
  readonly tick: (stopping: AbortSignal) => Promise<unknown>;
  /** Runs with `ROLE=api` too, because the calls of this process need it. */
  readonly servesOwnCalls?: true;
}

/**
 * Runs periodic jobs on shared state until the drain: with jitter, and never two ticks of a job at once. An error is
 * logged and counted, and the next tick follows as usual. With `ROLE=api` only the jobs that the calls of this process
 * need run; another process runs the rest.
 */
@Injectable()
export class Scheduler implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Scheduler.name);
  private readonly jobs = new Map<string, ScheduledJob>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly dueMs = new Map<string, number>();
  /** Delays until the next tick, requested by `runSoon` during a tick. */
  private readonly wakes = new Map<string, number>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'role'>,
  ) {}

  /** Runs the job's first tick after one interval. */
  start(job: ScheduledJob): void {
    if (this.config.role === 'api' && !job.servesOwnCalls) return;
    this.jobs.set(job.name, job);
    this.schedule(job, job.intervalMs);
  }

  /**
   * Makes the job's next tick start within `inMs`, or `inMs` after the end of the running tick. Does nothing for a job
   * that does not run in this process.
   */
  runSoon(name: string, inMs: number): void {
    const job = this.jobs.get(name);
    if (!job) return;
    if (this.running.has(name)) this.wakes.set(name, inMs);
    else this.schedule(job, inMs);
  }

  /** Starts no more ticks and waits for the running ones. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const name of this.registry.getTimeouts()) {
      if (name.startsWith(PREFIX)) this.registry.deleteTimeout(name);
    }
    await Promise.all(this.running.values());
  }

  /** {@link stop}, for an application that is closed without a drain. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private schedule(job: ScheduledJob, intervalMs: number): void {
    if (this.stopping.signal.aborted) return;
    const waitMs = intervalMs * (1 + Math.random() * JITTER);
    const dueMs = this.clock.nowMs() + waitMs;
    if ((this.dueMs.get(job.name) ?? Infinity) <= dueMs) return;
    if (this.dueMs.has(job.name)) this.registry.deleteTimeout(PREFIX + job.name);
    this.dueMs.set(job.name, dueMs);
    const timer = setTimeout(() => {
      this.registry.deleteTimeout(PREFIX + job.name);
      this.dueMs.delete(job.name);
      const lagMs = Math.max(0, this.clock.nowMs() - dueMs);
      this.metrics.tickerLagSeconds.set({ job: job.name }, lagMs / 1000);
      // Registered before it runs, because a tick may call `runSoon` for its own job.
      this.running.set(
        job.name,
        Promise.resolve().then(() => this.runAndGoOn(job)),
      );
    }, waitMs).unref();
    this.registry.addTimeout(PREFIX + job.name, timer);
  }

  private async runAndGoOn(job: ScheduledJob): Promise<void> {
    await this.run(job);
    this.running.delete(job.name);
    const inMs = this.wakes.get(job.name) ?? job.intervalMs;
    this.wakes.delete(job.name);
    this.schedule(job, inMs);
  }

  private async run(job: ScheduledJob): Promise<void> {
    try {
      await job.tick(this.stopping.signal);
    } catch (error) {
      this.metrics.tickerErrors.inc({ job: job.name });
      this.logger.error(`${job.name}: ${String(error)}`);
    }
  }
}

/** Names of our timeouts in the scheduler's registry. */
const PREFIX = 'scheduler:';
