import { Inject, Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import type { JsonObject } from '../../common/json-object.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { retryTransient } from '../../platform/database/retry-transient.js';
import { loggedCodeOf } from '../../providers/http/code-word.js';
import { collectDelayMs } from '../collect-failure.js';
import { MAX_GROWTH, pollDelayMs } from './poll-interval.js';
import { type AroundTry, type Completion, TaskCompletion } from '../completion/task-completion.js';
import { LEASE_MS, laneOf, runsHere, type TaskPhase } from '../task-lane.js';
import { TaskMetrics } from '../task-metrics.js';
import { TRANSITIONS } from '../task-state-machine.js';
import type { Task } from '../task.js';
import { taskFaultOf } from '../task-fault.js';
import { TaskRepository } from '../reads/task.repository.js';
import { REPORT_PATIENCE_MS, ReportBatcher } from './report-batcher.js';
import { type ClaimedWork, type TaskFacts, TaskWorkRepository } from './task-work.repository.js';

/** A step is not retried after this many failures in a row. */
export const MAX_FAILURES = 5;

/** The next step of a task that is not completed yet. */
export interface Progress {
  readonly phase: TaskPhase;
  readonly delayMs: number;
  /** Default 0. */
  readonly failureCount?: number;
  readonly facts?: TaskFacts;
}

/** Stores the outcomes of steps. A report is ignored if the task was taken over or has ended. */
@Injectable()
export class StepReporter {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reports: ReportBatcher,
    private readonly completion: TaskCompletion,
    private readonly repository: TaskRepository,
    private readonly metrics: TaskMetrics,
    private readonly statements: TaskWorkRepository,
    @Inject(GATEWAY_CONFIG)
    private readonly config: Pick<GatewayConfig, 'taskPollIntervalMs' | 'taskDeadlineMs'>,
  ) {}

  /** Stores the next step and when it is due. False if the task was taken over. */
  async scheduleNext(
    work: ClaimedWork,
    { phase, delayMs, failureCount = 0, facts }: Progress,
  ): Promise<boolean> {
    const { task, fence } = work;
    const isApplied = await this.reports.advance({
      accountId: task.accountId,
      taskId: task.id,
      fence,
      phase,
      lane: laneOf(phase, task),
      delayMs,
      failureCount,
      ...(facts && { facts }),
    });
    if (!isApplied) this.metrics.staleReports.inc();
    return isApplied;
  }

  /**
   * Stores that a request may be sent to the place that `next` has, of a task that is `stored` with another one. False if the task was
   * taken over.
   */
  async beginSubmission(stored: Task, next: ClaimedWork): Promise<boolean> {
    const { task } = next;
    const { provider, upstreamModel, providerBaseUrl } = task;
    if (provider === stored.provider && upstreamModel === stored.upstreamModel) {
      const facts = {
        ...(providerBaseUrl !== stored.providerBaseUrl && { base_url: providerBaseUrl }),
        ...(runsHere(task.kind) && { status: 'processing' as const }),
      };
      const hasFacts = Object.keys(facts).length > 0;
      return this.scheduleNext(next, {
        phase: 'submitting',
        delayMs: LEASE_MS,
        ...(hasFacts && { facts }),
      });
    }
    const name = { taskId: task.id, fence: next.fence };
    const move = () => this.reports.whileMoving(name, () => this.statements.moveTo(next));
    const isApplied = await retryTransient(move, REPORT_PATIENCE_MS);
    if (!isApplied) this.metrics.staleReports.inc();
    return isApplied;
  }

  /**
   * Completes the task. False if it was taken over or has ended. After a completion without success the job is still polled, to
   * notice a late result, which is counted and logged but changes nothing.
   */
  async end(
    work: ClaimedWork,
    completion: Omit<Completion, 'fence' | 'watchMs'>,
  ): Promise<boolean> {
    const { task, fence } = work;
    const around: AroundTry = (attempt) =>
      this.reports.whileMoving({ taskId: task.id, fence }, attempt);
    const isSuccess = TRANSITIONS[completion.event].to === 'succeeded';
    const whole = { ...completion, fence, ...(!isSuccess && { watchMs: this.longestMs }) };
    const ended = await this.completion.end(task, whole, REPORT_PATIENCE_MS, around);
    if (ended) {
      if (!isSuccess) this.logger.warn(lineOf(ended, completion));
      return true;
    }
    this.metrics.staleReports.inc();
    if (!isSuccess) return false;
    const now = await this.repository.find(task.id, task.accountId);
    if (now?.status === 'failed' || now?.status === 'expired') await this.recordLateResult(work);
    return false;
  }

  /**
   * Completes the task as `reconciliation_required`: its outcome is unknown and its hold stays; as `failed` for a kind that runs
   * here. `error` is the step's last one.
   */
  async endUnknown(work: ClaimedWork, error?: unknown, stepState?: JsonObject): Promise<void> {
    const loss = this.completion.lossOf(work.task);
    await this.end(work, { ...loss, fault: taskFaultOf(error), stepState });
  }

  /** Completes the task as `expired`. `error` is the step's last one. */
  async endExpired(work: ClaimedWork, error?: unknown, stepState?: JsonObject): Promise<void> {
    await this.end(work, { event: 'expired', fault: taskFaultOf(error), stepState });
  }

  /** Counts a failure that is not a provider error. The step is tried {@link MAX_FAILURES} times in all. */
  async recordFailure(work: ClaimedWork, error: unknown, facts?: TaskFacts): Promise<void> {
    const failureCount = work.failureCount + 1;
    const { task, phase } = work;
    this.logger.warn(
      `${toPublicId('task', task.id)}: step ${phase} failed (${failureCount}): ${String(error)}`,
    );
    if (phase === 'watching')
      await this.scheduleNext(work, { phase, delayMs: this.longestMs, failureCount });
    else if (failureCount >= MAX_FAILURES) await this.endUnknown(work, error);
    else
      await this.scheduleNext(work, {
        phase,
        delayMs: this.nextPollMs(work),
        failureCount,
        ...(facts && { facts }),
      });
  }

  /**
   * Defers a download that failed for now. It is retried with growing delays for ten minutes.
   */
  async deferDownload(work: ClaimedWork, error: unknown, stepState?: JsonObject): Promise<void> {
    const { task, phase, deferrals, deferredForMs } = work;
    this.logger.warn(
      `${toPublicId('task', task.id)}: step ${phase} is deferred (${deferrals + 1}): ${String(error)}`,
    );
    const delayMs = collectDelayMs(deferrals, deferredForMs, this.config.taskPollIntervalMs);
    if (delayMs === undefined) await this.endUnknown(work, error, stepState);
    else
      await this.scheduleNext(work, {
        phase,
        delayMs,
        failureCount: work.failureCount,
        facts: { put_off: deferrals + 1, memory: stepState },
      });
  }

  /** Counts, logs and stores that the provider finished the job late. An operator may collect its result. */
  async recordLateResult({ task }: ClaimedWork): Promise<void> {
    this.metrics.lateSuccesses.inc({ kind: task.kind });
    this.logger.warn(
      `${toPublicId('task', task.id)}: succeeded at the provider after it had ended here; task:resolve TASK collect delivers the result`,
    );
    await this.statements.recordLateSuccess(task);
  }

  /** Whether the deadline of the task has passed. */
  isOverdue(work: ClaimedWork): boolean {
    return work.ageMs >= this.config.taskDeadlineMs;
  }

  /** The delay before the next poll, at most until the deadline. */
  nextPollMs(work: ClaimedWork): number {
    const nextPollMs = pollDelayMs(work.ageMs, this.config.taskPollIntervalMs, Math.random());
    return this.withinDeadline(work, nextPollMs);
  }

  /** The delay, at most until the deadline. */
  withinDeadline({ ageMs }: ClaimedWork, delayMs: number): number {
    const leftMs = Math.ceil(this.config.taskDeadlineMs - ageMs);
    return leftMs > 0 ? Math.min(delayMs, leftMs) : delayMs;
  }

  /** The longest interval between two polls. */
  get longestMs(): number {
    return MAX_GROWTH * this.config.taskPollIntervalMs;
  }
}

/** The log line for a completion without success. The provider's message is only in the record. */
function lineOf(
  { id, status, provider, error }: Task,
  { event, fault }: Partial<Completion>,
): string {
  const ended = event === 'unknown' ? 'its outcome is unknown' : status;
  const reason = error ? ` (${error.code}: ${error.message})` : '';
  const code = fault?.code && loggedCodeOf(fault.code);
  const words = fault && [
    fault.status,
    code && JSON.stringify(code),
    fault.requestId && `request ${fault.requestId}`,
  ];
  const said = words && `; provider ${provider} said ${words.filter(Boolean).join(', ')}`;
  return `${toPublicId('task', id)}: ${ended}${reason}${said ?? ''}`;
}
