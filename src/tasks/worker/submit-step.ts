import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { Reversals } from '../../billing/recovery/reversals.js';
import { memoryOf, StepFigures } from './step-figures.js';
import { StepReporter } from './step-reporter.js';
import { retryTransient } from '../retry-transient.js';
import { judgeSubmitFailure, deferDelayMs, refusalMessage } from './submit-failure.js';
import { type Task, TASK_FAILED, type TaskFault } from '../task.js';
import { taskFaultOf } from '../task-fault.js';
import { TaskInputs } from '../submission/task-inputs.js';
import type { SubmitReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { LEASE_MS, laneOf } from '../task-lane.js';
import { REPORT_PATIENCE_MS } from './report-batcher.js';
import { type ClaimedWork, TaskWorkRepository } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

/** The id of an accepted job that is not in the database after this time is written to disk as well. */
const JOURNAL_AFTER_MS = 2_000;

/**
 * Submits the work to the provider. The task is marked before the call. A worker that finds the mark later knows that a
 * request may have been sent, and sends no other (ADR 0009).
 */
@Injectable()
export class SubmitStep {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly inputs: TaskInputs,
    private readonly upstreams: TaskUpstreams,
    private readonly statements: TaskWorkRepository,
    private readonly owed: Reversals,
  ) {}

  async run(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const { reporter } = this;
    // The worker ended or was cut off between the mark and the report.
    if (work.phase === 'submitting') return reporter.endUnknown(work);
    if (reporter.isOverdue(work)) return reporter.endExpired(work);
    const baseUrl = this.upstreams.baseUrlOf(work.task);
    if (baseUrl === undefined || this.isElsewhere(work, baseUrl)) {
      const delayMs = reporter.withinDeadline(work, reporter.longestMs);
      await reporter.scheduleNext(work, { phase: 'waiting', delayMs });
      return;
    }
    const input = this.inputs.open(work.sealedInput, work.task.id);
    const isMarked = await reporter.scheduleNext(work, {
      phase: 'submitting',
      delayMs: LEASE_MS,
      ...(baseUrl !== work.task.providerBaseUrl && { facts: { base_url: baseUrl } }),
    });
    if (isMarked) await this.send(work, { ...work.task, input, providerBaseUrl: baseUrl }, signal);
  }

  /** Never throws: after the mark no failure may lead to a second request. */
  private async send(work: ClaimedWork, task: Task, signal: AbortSignal): Promise<void> {
    const figures = new StepFigures();
    try {
      // The kind sends what it remembers to the provider.
      const remembered = { ...task, memory: memoryOf(task).rest };
      const report = await this.kinds
        .of(task.kind)
        .submit(remembered, this.upstreams.contextOf(task, signal, figures.hear))
        .catch((error: unknown) => this.failed(work, error));
      if (!report) return;
      await this.reported(work, report.state === 'failed' ? report : figures.addedTo(report, task));
      if (report.state === 'accepted') await this.kinds.of(task.kind).accepted?.(task);
    } catch (error) {
      // The provider's answer is known, but the database refuses to store it.
      this.logger.error(`${toPublicId('task', task.id)}: ${String(error)}`);
    }
  }

  /**
   * A request that was sent binds the task to its upstream. Work for play money never goes to a real provider, nor the
   * reverse (decision G-95).
   */
  private isElsewhere({ task, submits }: ClaimedWork, baseUrl: string): boolean {
    if (baseUrl === task.providerBaseUrl) return false;
    return submits > 0 || this.upstreams.isSandbox(task) !== task.onSandbox;
  }

  private async failed(work: ClaimedWork, error: unknown): Promise<undefined> {
    const { reporter } = this;
    const meaning = judgeSubmitFailure(error);
    if (meaning === 'unknown') {
      this.logger.warn(`${toPublicId('task', work.task.id)}: submission failed: ${String(error)}`);
      await reporter.endUnknown(work, error);
      return;
    }
    const delayMs =
      meaning === 'put_off' ? deferDelayMs(work.putOffs, work.putOffForMs) : undefined;
    if (delayMs === undefined) {
      await this.refused(work, refusalMessage(error), taskFaultOf(error));
      return;
    }
    await reporter.scheduleNext(work, {
      phase: 'waiting',
      delayMs: reporter.withinDeadline(work, delayMs),
      facts: { put_off: true },
    });
  }

  private async reported(work: ClaimedWork, report: SubmitReport): Promise<void> {
    const { reporter } = this;
    switch (report.state) {
      case 'accepted': {
        const { jobId, memory } = report;
        const facts = { status: 'processing', job_id: jobId, memory } as const;
        this.logger.debug(`${toPublicId('task', work.task.id)}: accepted as job ${jobId}`);
        const next = { phase: 'polling', delayMs: reporter.paceMs(work), facts } as const;
        if (!(await this.surely(work, jobId, reporter.scheduleNext(work, next)))) {
          await this.keepJob(work, jobId);
        }
        return;
      }
      case 'step': {
        const facts = { status: 'processing', memory: report.memory } as const;
        await reporter.scheduleNext(work, { phase: 'waiting', delayMs: 0, facts });
        return;
      }
      case 'done':
        return this.done(work, report);
      case 'failed':
        return this.refused(work, report.message, report.fault);
    }
  }

  /** Puts the job's id on disk while the database takes long to write it, so that it outlives this process. */
  private async surely(
    work: ClaimedWork,
    jobId: string,
    written: Promise<boolean>,
  ): Promise<boolean> {
    const { id: taskId, accountId, provider } = work.task;
    const watch = { watchLane: laneOf('watching', provider), watchMs: this.reporter.longestMs };
    const journal = () => this.owed.addDurably({ taskId, accountId, jobId, ...watch });
    let journalled: Promise<void> | undefined;
    const timer = setTimeout(() => {
      journalled = journal();
      // Told below, where the database does not write it either.
      journalled.catch(() => undefined);
    }, JOURNAL_AFTER_MS).unref();
    try {
      return await written;
    } catch (error) {
      await (journalled ?? journal());
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The task was taken over before the provider's answer came, so its outcome is unknown; its job is known. */
  private async keepJob(work: ClaimedWork, jobId: string): Promise<void> {
    const isKept = await retryTransient(
      () => this.statements.keepJob(work, jobId, this.reporter.longestMs),
      REPORT_PATIENCE_MS,
    );
    const id = toPublicId('task', work.task.id);
    if (isKept) this.logger.warn(`${id}: accepted as job ${jobId} after it was taken over`);
  }

  private async done(
    work: ClaimedWork,
    { result, memory }: Extract<SubmitReport, { state: 'done' }>,
  ): Promise<void> {
    if (this.kinds.of(work.task.kind).collect) {
      const facts = { status: 'processing', found: result, memory } as const;
      await this.reporter.scheduleNext(work, { phase: 'collecting', delayMs: 0, facts });
      return;
    }
    // The provider has worked, so the task passes through this state too (API: Task states).
    const facts = { status: 'processing', memory } as const;
    const isMine = await this.reporter.scheduleNext(work, {
      phase: 'submitting',
      delayMs: LEASE_MS,
      facts,
    });
    if (isMine) await this.reporter.end(work, { event: 'succeeded', result, memory });
  }

  private async refused(work: ClaimedWork, message: string, fault?: TaskFault): Promise<void> {
    const error = { code: TASK_FAILED, message };
    await this.reporter.end(work, { event: 'failed', error, fault });
  }
}
