import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { StopSource } from '../../common/stop-signal.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../config/gateway-config.js';
import { Ticker } from '../../ticker/ticker.js';
import { LANE_ROOMS, LEASE_MS, laneOf, stepOf } from '../task-lane.js';
import { TaskReports } from './task-reports.js';
import { type ClaimedWork, TaskStatements } from './task-statements.js';
import { TaskSteps } from './task-steps.js';

/** A running worker renews its leases this often. */
const RENEWAL_MS = 10_000;
/** After the drain timeout, aborted steps get this long to report. */
const ABORT_GRACE_MS = 3_000;

interface Running {
  readonly work: ClaimedWork;
  readonly lane: string;
  readonly stop: StopSource;
}

/**
 * Claims due work and runs its steps, with a bound for each lane. Any number of processes do so at the same time. A
 * step that another process has taken over is aborted, and its report changes nothing (architecture: §5, §6).
 */
@Injectable()
export class TaskWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Tasks');
  private readonly running = new Map<string, Running>();
  private readonly countByLane = new Map<string, number>();
  private readonly ended = new Set<() => void>();
  private renewal: NodeJS.Timeout | undefined;
  private isDraining = false;

  constructor(
    private readonly statements: TaskStatements,
    private readonly steps: TaskSteps,
    private readonly reports: TaskReports,
    private readonly ticker: Ticker,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  onApplicationBootstrap(): void {
    const { taskTickMs: intervalMs } = this.config;
    this.ticker.start({ name: 'tasks', intervalMs, tick: () => this.tick() });
  }

  /**
   * Starts every due step for which there is a free place, and repeats that while more may be due; returns how many it
   * started. It does not wait for the steps: see {@link whenIdle}.
   */
  async tick(): Promise<number> {
    for (let started = 0; ;) {
      if (this.isDraining) return started;
      const rooms = this.rooms();
      const claimed = await this.statements.claim({
        rooms,
        mine: [...this.running.keys()],
        leaseMs: LEASE_MS,
      });
      for (const work of claimed) this.start(work);
      started += claimed.length;
      const lanes = filledLanes(rooms, claimed);
      if (lanes.length === 0) return started;
      await this.roomOrTick(lanes);
    }
  }

  /** Resolves when no step is under way. */
  async whenIdle(): Promise<void> {
    while (this.running.size > 0) await this.nextEnd();
  }

  /** Claims nothing more and waits for the steps under way. Those still running after `timeoutMs` are aborted. */
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

  private start(work: ClaimedWork): void {
    const lane = laneOf(work.phase, work.task.provider);
    const running: Running = { work, lane, stop: new StopSource() };
    this.running.set(work.task.id, running);
    this.countByLane.set(lane, (this.countByLane.get(lane) ?? 0) + 1);
    this.renewal ??= this.renewSoon();
    void this.steps.run(work, running.stop).then(() => {
      this.end(running);
    });
  }

  private end(running: Running): void {
    const { work, lane } = running;
    if (this.running.get(work.task.id) === running) this.running.delete(work.task.id);
    const left = (this.countByLane.get(lane) ?? 1) - 1;
    if (left === 0) this.countByLane.delete(lane);
    else this.countByLane.set(lane, left);
    for (const wake of this.ended) wake();
  }

  private rooms(): Map<string, number> {
    const entries = [...this.countByLane].map(
      ([lane, count]) => [lane, LANE_ROOMS[stepOf(lane)] - count] as const,
    );
    return new Map(entries);
  }

  /** Waits until half of one lane is free, or until the next tick. */
  private async roomOrTick(lanes: readonly string[]): Promise<void> {
    const hasRoom = () =>
      lanes.some((lane) => (this.countByLane.get(lane) ?? 0) <= LANE_ROOMS[stepOf(lane)] / 2);
    const pause = new AbortController();
    const tick = sleep(this.config.taskTickMs, undefined, { signal: pause.signal, ref: false })
      .then(() => true)
      .catch(() => true);
    const room = async (): Promise<void> => {
      while (!hasRoom() && !this.isDraining && !pause.signal.aborted) await this.nextEnd();
    };
    await Promise.race([tick, room()]);
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
        const { task, fence } = running.work;
        const { accountId, id: taskId } = task;
        try {
          const lease = { accountId, taskId, fence, delayMs: LEASE_MS };
          const isLeased = await this.reports.advance(lease);
          // A submission is never repeated, so the answer to it is worth having: it may name a job.
          const isOver = !isLeased && stepOf(running.lane) !== 'submit';
          if (isOver && this.running.get(taskId) === running) {
            running.stop.abort(new Error('the task was taken over'));
          }
        } catch (error) {
          this.logger.error(`a lease was not renewed: ${String(error)}`);
        }
      }),
    );
  }
}

/** Lanes that a claim has filled, so more of their work may be due. Steps that ended in the meantime do not count. */
function filledLanes(
  rooms: ReadonlyMap<string, number>,
  claimed: readonly ClaimedWork[],
): string[] {
  const left = new Map(rooms);
  for (const { phase, task } of claimed) {
    const lane = laneOf(phase, task.provider);
    left.set(lane, (left.get(lane) ?? LANE_ROOMS[stepOf(lane)]) - 1);
  }
  return [...left].filter(([, room]) => room <= 0).map(([lane]) => lane);
}
