import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { LEASE_MS, laneOf, stepOf } from '../task-lane.js';
import { LaneCapacity } from './lane-capacity.js';
import { ReportBatcher } from './report-batcher.js';
import { momentBy, SendWindow } from './send-window.js';
import { type ClaimedWork, TaskWorkRepository } from './task-work.repository.js';
import { TaskSteps } from './task-steps.js';

/** Interval of lease renewals. */
const RENEWAL_MS = 10_000;
/** After the shutdown timeout, aborted steps get this long to report. */
const ABORT_GRACE_MS = 3_000;

interface Running {
  readonly work: ClaimedWork & { readonly window: SendWindow };
  readonly stop: AbortController;
}

/**
 * Claims due work and runs its steps, with a concurrency per lane. Any number of processes can do so at the same time. A step
 * that another process has taken over is aborted and its report ignored (ADR 0012).
 */
@Injectable()
export class TaskWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Tasks');
  private readonly running = new Map<string, Running>();
  private readonly capacity = new LaneCapacity();
  private readonly ended = new Set<() => void>();
  private renewal: NodeJS.Timeout | undefined;
  private isDraining = false;

  constructor(
    private readonly statements: TaskWorkRepository,
    private readonly steps: TaskSteps,
    private readonly reports: ReportBatcher,
    private readonly scheduler: Scheduler,
    private readonly clock: Clock,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  onApplicationBootstrap(): void {
    const { taskTickMs: intervalMs } = this.config;
    this.scheduler.start({ name: 'tasks', intervalMs, tick: () => this.tick() });
  }

  /**
   * Starts due steps within the free capacity, and repeats that while more may be due. Returns the number of started steps. It
   * does not wait for the steps: see {@link whenIdle}.
   */
  async tick(): Promise<number> {
    for (let started = 0; ;) {
      if (this.isDraining) return started;
      // A snapshot: the claim could not use the capacity of steps that end while it runs.
      const seen = this.capacity.copy();
      const beforeClaim = momentBy(this.clock);
      const claimed = await this.statements.claim({
        available: seen.available(),
        inUse: seen.inUse(),
        runningIds: [...this.running.keys()],
        leaseMs: LEASE_MS,
      });
      for (const work of claimed) {
        seen.acquire(work);
        this.start({ ...work, window: new SendWindow(this.clock, beforeClaim) });
      }
      started += claimed.length;
      const usedUp = seen.usedUp();
      if (usedUp.length === 0) return started;
      await this.capacityOrTick(new Map(usedUp.map((lane) => [lane, seen.inUseOf(lane) / 2])));
    }
  }

  /** Resolves when no step is running. */
  async whenIdle(): Promise<void> {
    while (this.running.size > 0) await this.nextEnd();
  }

  /** Stops claiming and waits for running steps. Steps still running after `timeoutMs` are aborted. */
  async drain(timeoutMs: number): Promise<void> {
    this.isDraining = true;
    for (const wake of this.ended) wake();
    await Promise.race([this.whenIdle(), sleep(timeoutMs, undefined, { ref: false })]);
    const reason = new GatewayError('service_unavailable', 'The gateway is shutting down.');
    for (const { stop } of this.running.values()) stop.abort(reason);
    await Promise.race([this.whenIdle(), sleep(ABORT_GRACE_MS, undefined, { ref: false })]);
    clearTimeout(this.renewal);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.drain(0);
  }

  private start(work: Running['work']): void {
    const running: Running = { work, stop: new AbortController() };
    this.running.set(work.task.id, running);
    this.capacity.acquire(work);
    this.renewal ??= this.renewSoon();
    void this.steps.run(work, running.stop.signal).then(() => {
      this.end(running);
    });
  }

  private end(running: Running): void {
    const { work } = running;
    if (this.running.get(work.task.id) === running) this.running.delete(work.task.id);
    this.capacity.release(work);
    for (const wake of this.ended) wake();
  }

  /** Waits until one of the lanes has at most this many running steps, or until the next tick. */
  private async capacityOrTick(limits: ReadonlyMap<string, number>): Promise<void> {
    const hasCapacity = () =>
      [...limits].some(([lane, most]) => this.capacity.inUseOf(lane) <= most);
    const pause = new AbortController();
    const tick = sleep(this.config.taskTickMs, undefined, { signal: pause.signal, ref: false })
      .then(() => true)
      .catch(() => true);
    const free = async (): Promise<void> => {
      while (!hasCapacity() && !this.isDraining && !pause.signal.aborted) await this.nextEnd();
    };
    await Promise.race([tick, free()]);
    pause.abort();
    for (const wake of this.ended) wake();
  }

  private nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.ended.delete(wake);
        resolve();
      };
      this.ended.add(wake);
    });
  }

  private renewSoon(): NodeJS.Timeout {
    return setTimeout(() => {
      void this.renew().finally(() => {
        this.renewal = this.running.size > 0 ? this.renewSoon() : undefined;
      });
    }, RENEWAL_MS).unref();
  }

  private async renew(): Promise<void> {
    await Promise.all(
      [...this.running.values()].map(async (running) => {
        const { task, fence, phase, window } = running.work;
        const { accountId, id: taskId } = task;
        try {
          const lease = { accountId, taskId, fence, delayMs: LEASE_MS };
          const asked = window.now();
          const isLeased = await this.reports.advance(lease);
          if (isLeased) window.confirmedAt(asked);
          // A submission is never repeated, so it is not aborted: its response may have a job id.
          const isOver = !isLeased && stepOf(laneOf(phase, task)) !== 'submit';
          if (isOver && this.running.get(taskId) === running) {
            running.stop.abort(new Error('the task was taken over'));
          }
        } catch (error) {
          this.logger.error(`cannot renew a lease: ${String(error)}`);
        }
      }),
    );
  }
}
