import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { AcceptedJobs } from './accepted-jobs.js';
import { splitStepState, type StepNotes } from './step-notes.js';
import { StepReporter } from './step-reporter.js';
import { classifySubmitFailure, deferDelayMs, rejectionMessage } from './submit-failure.js';
import { type Task, TASK_FAILED } from '../task.js';
import { taskFaultOf } from '../task-fault.js';
import { TaskInputs } from '../submission/task-inputs.js';
import type { FailedReport, SubmitReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { LEASE_MS, runsHere } from '../task-lane.js';
import { JobFiles } from './job-files.js';
import type { ClaimedWork, TaskFacts } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

/**
 * Submits the work to the provider. The task is set to the phase `submitting` before the request. A worker that later finds
 * this phase knows that a request may have been sent, and sends no other (ADR 0009).
 */
@Injectable()
export class SubmitStep {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly inputs: TaskInputs,
    private readonly upstreams: TaskUpstreams,
    private readonly jobs: AcceptedJobs,
    private readonly files: JobFiles,
  ) {}

  async run(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const { reporter } = this;
    // The worker ended between setting the phase and reporting the outcome.
    if (work.phase === 'submitting') return this.lookUp(work, signal);
    if (reporter.isOverdue(work)) return reporter.endExpired(work);
    const baseUrl = this.upstreams.baseUrlOf(work.task);
    const isPaused = this.upstreams.isPaused(work.task);
    if (baseUrl === undefined || isPaused || this.isElsewhere(work, baseUrl)) {
      const delayMs = reporter.withinDeadline(work, reporter.longestMs);
      await reporter.scheduleNext(work, { phase: 'waiting', delayMs });
      return;
    }
    const input = this.inputs.open(work.sealedInput, work.task.id);
    const isMoved = baseUrl !== work.task.providerBaseUrl;
    const isRun = runsHere(work.task.kind);
    const facts = {
      ...(isMoved && { base_url: baseUrl }),
      ...(isRun && { status: 'processing' as const }),
    };
    if (await this.mark(work, isMoved || isRun ? facts : undefined))
      await this.send(work, { ...work.task, input, providerBaseUrl: baseUrl }, signal);
  }

  /** From here on a request may have been sent. False if the task was taken over. */
  private async mark(work: ClaimedWork, facts: TaskFacts | undefined): Promise<boolean> {
    const before = work.window?.now();
    const next = { phase: 'submitting', delayMs: LEASE_MS, ...(facts && { facts }) } as const;
    const isMarked = await this.reporter.scheduleNext(work, next);
    if (isMarked && before) work.window?.confirmedAt(before);
    return isMarked;
  }

  private async lookUp(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const notes = this.upstreams.notesOf('submit', work);
    const jobId = await this.jobs.found(work, work.task, { notes, signal });
    if (jobId === undefined) return;
    await this.reported(work, notes.addedTo({ state: 'accepted', jobId }, work.task));
  }

  /** Never throws, because no failure may lead to a second request. */
  private async send(work: ClaimedWork, task: Task, signal: AbortSignal): Promise<void> {
    const notes = this.upstreams.notesOf('submit', work);
    const mayStillSend = () => work.window?.isOpen ?? true;
    try {
      // The kind may send its step state to the provider, so the notes are left out.
      const sentTask = { ...task, stepState: splitStepState(task).rest };
      const report = await this.kinds
        .of(task.kind)
        .submit(sentTask, { ...this.upstreams.contextOf(task, signal, notes), mayStillSend })
        .catch((error: unknown) => this.failed(work, task, error, { notes, signal }));
      if (!report) return;
      await this.reported(work, notes.addedTo(report, task));
      if (report.state === 'accepted') await this.kinds.of(task.kind).accepted?.(task);
    } catch (error) {
      // The provider's response is known, but the database refuses to store it.
      this.logger.error(`${toPublicId('task', task.id)}: ${String(error)}`);
    }
  }

  /**
   * Whether the task must not be sent to this base URL. A task that was sent once stays at its upstream, except where the work is
   * done here: nothing of it is kept at an upstream that had no room for it. Work for play money never goes to a real provider, nor
   * the reverse (decision G-95).
   */
  private isElsewhere({ task, submits }: ClaimedWork, baseUrl: string): boolean {
    if (baseUrl === task.providerBaseUrl) return false;
    const isKept = submits > 0 && !runsHere(task.kind);
    return isKept || this.upstreams.isSandbox(task) !== task.onSandbox;
  }

  private async failed(
    work: ClaimedWork,
    task: Task,
    error: unknown,
    { notes, signal }: { readonly notes: StepNotes; readonly signal: AbortSignal },
  ): Promise<SubmitReport | undefined> {
    const { reporter } = this;
    const meaning = classifySubmitFailure(error);
    if (meaning === 'unknown') {
      this.logger.warn(`${toPublicId('task', work.task.id)}: submission failed: ${String(error)}`);
      const jobId = await this.jobs.found(work, task, { error, notes, signal });
      return jobId === undefined ? undefined : { state: 'accepted', jobId };
    }
    const delayMs =
      meaning === 'deferred' ? deferDelayMs(work.deferrals, work.deferredForMs) : undefined;
    if (delayMs === undefined) {
      const report = { state: 'failed', message: rejectionMessage(error) } as const;
      const fault = taskFaultOf(error);
      await this.rejected(work, notes.addedTo({ ...report, ...(fault && { fault }) }, work.task));
      return undefined;
    }
    await reporter.scheduleNext(work, {
      phase: 'waiting',
      delayMs: reporter.withinDeadline(work, delayMs),
      facts: { put_off: work.deferrals + 1, memory: notes.stepStateOf(work.task) },
    });
    return undefined;
  }

  private async reported(work: ClaimedWork, report: SubmitReport): Promise<void> {
    const { reporter } = this;
    switch (report.state) {
      case 'accepted': {
        const { jobId, stepState } = report;
        const facts = { status: 'processing', job_id: jobId, memory: stepState } as const;
        this.logger.debug(`${toPublicId('task', work.task.id)}: accepted as job ${jobId}`);
        const next = { phase: 'polling', delayMs: reporter.nextPollMs(work), facts } as const;
        await this.jobs.store(work, jobId, reporter.scheduleNext(work, next));
        return;
      }
      case 'step': {
        const facts = { status: 'processing', memory: report.stepState } as const;
        await reporter.scheduleNext(work, { phase: 'waiting', delayMs: 0, facts });
        return;
      }
      case 'done':
        return this.done(work, report);
      case 'failed':
        return this.rejected(work, report);
    }
  }

  private async done(
    work: ClaimedWork,
    report: Extract<SubmitReport, { state: 'done' }>,
  ): Promise<void> {
    const { result, stepState, bill, answer, content } = report;
    if (runsHere(work.task.kind)) {
      const made = { result, stepState, bill, answer, ...(content && { content }) };
      const end = () => this.reporter.end(work, { event: 'succeeded', ...made });
      await this.files.endWith(work.task, content && { content }, end);
      return;
    }
    if (this.kinds.of(work.task.kind).collect) {
      const facts = { status: 'processing', found: result, memory: stepState } as const;
      await this.reporter.scheduleNext(work, { phase: 'collecting', delayMs: 0, facts });
      return;
    }
    // The provider has done the work, so the task also passes through `processing` (API: Task states).
    const facts = { status: 'processing', memory: stepState } as const;
    const isMine = await this.reporter.scheduleNext(work, {
      phase: 'submitting',
      delayMs: LEASE_MS,
      facts,
    });
    if (isMine) await this.reporter.end(work, { event: 'succeeded', result, stepState });
  }

  private async rejected(
    work: ClaimedWork,
    { message, code = TASK_FAILED, fault, stepState, costMicroUsd }: FailedReport,
  ): Promise<void> {
    const error = { code, message };
    await this.reporter.end(work, { event: 'failed', error, fault, stepState, costMicroUsd });
  }
}
