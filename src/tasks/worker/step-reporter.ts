import { Inject, Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { loggedCodeOf } from '../../providers/http/code-word.js';
import { collectDelayMs } from '../collect-failure.js';
import { MAX_GROWTH, pollDelayMs } from './poll-pace.js';
import { type AroundTry, type Completion, TaskCompletion } from '../completion/task-completion.js';
import { laneOf, type TaskPhase } from '../task-lane.js';
import { TaskMetrics } from '../task-metrics.js';
import type { Task } from '../task.js';
import { taskFaultOf } from '../task-fault.js';
import { TaskRepository } from '../reads/task.repository.js';
import { REPORT_PATIENCE_MS, ReportBatcher } from './report-batcher.js';
import { type ClaimedWork, type TaskFacts, TaskWorkRepository } from './task-work.repository.js';

/** A step that failed this often in a row is not tried again. */
export const MAX_FAILURES = 5;

/** The outcome of a step after which the task goes on. */
export interface Progress {
  readonly phase: TaskPhase;
  readonly delayMs: number;
  /** Default 0. */
  readonly failureCount?: number;
  readonly facts?: TaskFacts;
}

/** Steps report their outcome here. The report of a step whose task was taken over or has ended changes nothing. */
@Injectable()
export class StepReporter {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reports: ReportBatcher,
    private readonly ending: TaskCompletion,
    private readonly reader: TaskRepository,
    private readonly metrics: TaskMetrics,
    private readonly statements: TaskWorkRepository,
    @Inject(GATEWAY_CONFIG)
    private readonly config: Pick<GatewayConfig, 'taskPollIntervalMs' | 'taskDeadlineMs'>,
  ) {}

  /** Stores the next step and the time at which it may begin. False if the task was taken over. */
  async scheduleNext(
    work: ClaimedWork,
    { phase, delayMs, failureCount: strikes = 0, facts }: Progress,
  ): Promise<boolean> {
    const { task, fence } = work;
    const isApplied = await this.reports.advance({
      accountId: task.accountId,
      taskId: task.id,
      fence,
      phase,
      lane: laneOf(phase, task.provider),
      delayMs,
      strikes,
      ...(facts && { facts }),
    });
    if (!isApplied) this.metrics.staleReports.inc();
    return isApplied;
  }

  /**
   * Ends the task. False if it was taken over or has ended. A job that did not succeed is polled on, to notice a success
   * that comes too late: it is counted and logged, and changes nothing.
   */
  async end(work: ClaimedWork, ending: Omit<Completion, 'fence' | 'watchMs'>): Promise<boolean> {
    const { task, fence } = work;
    const around: AroundTry = (attempt) =>
      this.reports.whileMoving({ taskId: task.id, fence }, attempt);
    const isWatched = ending.event !== 'succeeded';
    const whole = { ...ending, fence, ...(isWatched && { watchMs: this.longestMs }) };
    const ended = await this.ending.end(task, whole, REPORT_PATIENCE_MS, around);
    if (ended) {
      if (ending.event !== 'succeeded') this.logger.warn(lineOf(ended, ending));
      return true;
    }
    this.metrics.staleReports.inc();
    if (ending.event !== 'succeeded') return false;
    const now = await this.reader.find(task.id, task.accountId);
    if (now?.status === 'failed' || now?.status === 'expired') await this.lateSuccess(work);
    return false;
  }

  /** The outcome cannot be known. The hold stays. `error` is the step's last one. */
  async endUnknown(work: ClaimedWork, error?: unknown): Promise<void> {
    await this.end(work, { event: 'unknown', fault: taskFaultOf(error) });
  }

  /** The deadline has passed without success. `error` is the step's last one. */
  async endExpired(work: ClaimedWork, error?: unknown): Promise<void> {
    await this.end(work, { event: 'expired', fault: taskFaultOf(error) });
  }

  /** A step failed for a reason that the provider did not give. It is tried again, five times in all. */
  async recordFailure(work: ClaimedWork, error: unknown, facts?: TaskFacts): Promise<void> {
    const strikes = work.strikes + 1;
    const { task, phase } = work;
    this.logger.warn(
      `${toPublicId('task', task.id)}: step ${phase} failed (${strikes}): ${String(error)}`,
    );
    if (phase === 'watching') await this.scheduleNext(work, { phase, delayMs: this.longestMs });
    else if (strikes >= MAX_FAILURES) await this.endUnknown(work, error);
    else
      await this.scheduleNext(work, {
        phase,
        delayMs: this.paceMs(work),
        failureCount: strikes,
        ...(facts && { facts }),
      });
  }

  /**
   * A file could not be fetched or stored for now. It is tried again for ten minutes, each time after a longer wait.
   */
  async collectLater(work: ClaimedWork, error: unknown): Promise<void> {
    const { task, phase, putOffs, putOffForMs } = work;
    this.logger.warn(
      `${toPublicId('task', task.id)}: step ${phase} is put off (${putOffs + 1}): ${String(error)}`,
    );
    const delayMs = collectDelayMs(putOffs, putOffForMs, this.config.taskPollIntervalMs);
    if (delayMs === undefined) await this.endUnknown(work, error);
    else
      await this.scheduleNext(work, {
        phase,
        delayMs,
        failureCount: work.strikes,
        facts: { put_off: true },
      });
  }

  /** The provider finished the job after all: it is counted, logged, and shown as evidence. An operator may collect it. */
  async lateSuccess({ task }: ClaimedWork): Promise<void> {
    this.metrics.lateSuccesses.inc({ kind: task.kind });
    this.logger.warn(
      `${toPublicId('task', task.id)}: succeeded at the provider after it had ended here; task:resolve TASK collect delivers it`,
    );
    await this.statements.noteSuccess(task);
  }

  /** Whether an unfinished task is too old. */
  isOverdue(work: ClaimedWork): boolean {
    return work.ageMs >= this.config.taskDeadlineMs;
  }

  /** The wait before the next poll; it ends at the deadline at the latest. */
  paceMs(work: ClaimedWork): number {
    const paceMs = pollDelayMs(work.ageMs, this.config.taskPollIntervalMs, Math.random());
    return this.withinDeadline(work, paceMs);
  }

  /** A wait that ends at the deadline at the latest. */
  withinDeadline({ ageMs }: ClaimedWork, delayMs: number): number {
    const leftMs = Math.ceil(this.config.taskDeadlineMs - ageMs);
    return leftMs > 0 ? Math.min(delayMs, leftMs) : delayMs;
  }

  /** The longest wait between two polls. */
  get longestMs(): number {
    return MAX_GROWTH * this.config.taskPollIntervalMs;
  }
}

/** What the log says of an end without success. The words of the provider's message stay in the record. */
function lineOf(
  { id, status, provider, error }: Task,
  { event, fault }: Partial<Completion>,
): string {
  const ended = event === 'unknown' ? 'its outcome is unknown, an operator decides' : status;
  const told = error ? ` (${error.code}: ${error.message})` : '';
  const code = fault?.code && loggedCodeOf(fault.code);
  const words = fault && [
    fault.status,
    code && JSON.stringify(code),
    fault.requestId && `request ${fault.requestId}`,
  ];
  const said = words && `; provider ${provider} said ${words.filter(Boolean).join(', ')}`;
  return `${toPublicId('task', id)}: ${ended}${told}${said ?? ''}`;
}
