import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import type { ProviderError } from '../../providers/http/provider-error.js';
import { AcceptedJobs } from './accepted-jobs.js';
import { splitStepState, type StepNotes } from './step-notes.js';
import { StepReporter } from './step-reporter.js';
import {
  classifySubmitFailure,
  deferDelayMs,
  isAtOwnLimit,
  isRefusedRepeat,
  isRefusedUnbegun,
  mayHaveBegun,
  milderOf,
  rejectionMessage,
} from './submit-failure.js';
import { type Task, TASK_FAILED } from '../task.js';
import { taskFaultOf } from '../task-fault.js';
import { TaskInputs } from '../submission/task-inputs.js';
import type { FailedReport, SubmitReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { LEASE_MS, runsHere } from '../task-lane.js';
import { JobFiles } from './job-files.js';
import type { ClaimedWork } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

/** A submission to one place after the other. */
interface Sending {
  /** The work as it was claimed. */
  readonly claimed: ClaimedWork;
  readonly notes: StepNotes;
  readonly signal: AbortSignal;
  isLast: boolean;
  /** The refusal of the places so far after which the work may still be made. */
  refusal: ProviderError | undefined;
}

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
    const places = this.upstreams.placesOf(work);
    if (places.length === 0) {
      const delayMs = reporter.withinDeadline(work, reporter.longestMs);
      await reporter.scheduleNext(work, { phase: 'waiting', delayMs });
      return;
    }
    await this.sendToFirst(places, work, signal);
  }

  /** Sends the task to the first place that does not refuse it before it can have begun. */
  private async sendToFirst(
    places: readonly Task[],
    work: ClaimedWork,
    signal: AbortSignal,
  ): Promise<void> {
    const input = this.inputs.open(work.sealedInput, work.task.id);
    const notes = this.upstreams.notesOf('submit', work);
    const sending: Sending = { claimed: work, notes, signal, isLast: false, refusal: undefined };
    let stored = work;
    for (const [index, task] of places.entries()) {
      const next = { ...work, task };
      if (!(await this.mark(stored, next))) return;
      stored = next;
      sending.isLast = index === places.length - 1;
      // What a refusal cost is not of the place that takes the work.
      notes.dropFigures();
      if (await this.send(next, { ...task, input }, sending)) return;
    }
  }

  /** From here on a request may have been sent to this place. False if the task was taken over. */
  private async mark(stored: ClaimedWork, next: ClaimedWork): Promise<boolean> {
    const before = next.window?.now();
    const isMarked = await this.reporter.beginSubmission(stored.task, next);
    if (isMarked && before) next.window?.confirmedAt(before);
    return isMarked;
  }

  private async lookUp(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const notes = this.upstreams.notesOf('submit', work);
    const report = await this.jobs.found(work, work.task, { notes, signal });
    if (report) await this.reported(work, notes.addedTo(report, work.task));
  }

  /** Whether the next place is not asked. Never throws, because no failure may lead to a second request. */
  private async send(work: ClaimedWork, task: Task, sending: Sending): Promise<boolean> {
    const { notes, signal } = sending;
    const context = {
      ...this.upstreams.contextOf(task, signal, notes),
      isFollowUp: undefined,
      mayStillSend: () => work.window?.isOpen ?? true,
    };
    try {
      // The kind may send its step state to the provider, so the notes are left out.
      const sentTask = { ...task, stepState: splitStepState(task).rest };
      const report = await this.kinds
        .of(task.kind)
        .submit(sentTask, context)
        .catch<SubmitReport | 'refused' | undefined>((error: unknown) => {
          if (!isRefusedUnbegun(error)) return this.failed(work, task, error, sending);
          sending.refusal = milderOf(sending.refusal, error);
          sending.isLast ||= signal.aborted;
          return sending.isLast ? this.failed(work, task, sending.refusal, sending) : 'refused';
        });
      if (report === 'refused') return false;
      if (!report) return true;
      await this.reported(work, notes.addedTo(report, task));
      if (report.state === 'accepted') await this.kinds.of(task.kind).accepted?.(task);
    } catch (error) {
      // The provider's response is known, but the database refuses to store it.
      this.logger.error(`${toPublicId('task', task.id)}: ${String(error)}`);
    }
    return true;
  }

  private async failed(
    work: ClaimedWork,
    task: Task,
    error: unknown,
    { claimed, notes, signal }: Sending,
  ): Promise<SubmitReport | undefined> {
    const { reporter } = this;
    const meaning = classifySubmitFailure(error);
    const isRefused = isRefusedRepeat(error, work.task);
    if (meaning === 'unknown')
      this.logger.warn(`${toPublicId('task', work.task.id)}: submission failed: ${String(error)}`);
    if (meaning === 'unknown' || isRefused) {
      const report = await this.jobs.found(work, task, { error, notes, signal, isRefused });
      if (report !== null) return report;
    }
    if (mayHaveBegun(error)) notes.keepOpenSubmission(task.provider);
    // Nobody refused the task, so it waits as it does without a place.
    const isAtLimit = isAtOwnLimit(error);
    const putOffMs =
      meaning === 'deferred' ? deferDelayMs(work.deferrals, work.deferredForMs) : undefined;
    const delayMs = isAtLimit ? reporter.longestMs : putOffMs;
    if (delayMs === undefined) {
      const report = { state: 'failed', message: rejectionMessage(error) } as const;
      const fault = taskFaultOf(error);
      await this.rejected(work, notes.addedTo({ ...report, ...(fault && { fault }) }, work.task));
      return undefined;
    }
    await reporter.scheduleNext(work, {
      phase: 'waiting',
      delayMs: reporter.withinDeadline(work, delayMs),
      facts: {
        ...(!isAtLimit && { put_off: work.deferrals + 1 }),
        memory: notes.stepStateOf(work.task),
        base_url: this.upstreams.refusedUpstreamOf(
          work.task,
          claimed.task,
          isRefusedUnbegun(error),
        ),
      },
    });
    return undefined;
  }

  private async reported(work: ClaimedWork, report: SubmitReport): Promise<void> {
    const { reporter } = this;
    switch (report.state) {
      case 'accepted': {
        const { jobId, stepState, evidence } = report;
        const facts = {
          ...({ status: 'processing', job_id: jobId, memory: stepState } as const),
          ...(evidence !== undefined && { evidence }),
        };
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
