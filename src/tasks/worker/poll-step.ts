import { Injectable } from '@nestjs/common';
import { ProviderError } from '../../providers/http/provider-error.js';
import { JobsAtProvider } from './jobs-at-provider.js';
import type { StepNotes } from './step-notes.js';
import { StepReporter } from './step-reporter.js';
import { isUnknownJob } from '../task-fault.js';
import { UnknownStates } from './unknown-states.js';
import { TASK_FAILED } from '../task.js';
import type { PollReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import type { ClaimedWork, TaskFacts } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

type PendingReport = Extract<PollReport, { state: 'pending' }>;

/** Polls the job at the provider, for the last time at the deadline (ADR 0009). */
@Injectable()
export class PollStep {
  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly unknownStates: UnknownStates,
    private readonly jobs: JobsAtProvider,
  ) {}

  async run(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const { task } = work;
    if (!this.upstreams.isReachable(task)) return this.unreachable(work);
    const notes = this.upstreams.notesOf('poll', work);
    let report: PollReport;
    try {
      const kind = this.kinds.of(task.kind);
      report = await kind.poll(task, this.upstreams.contextOf(task, signal, notes));
    } catch (error) {
      return this.failed(work, error, notes);
    }
    // Other reports are frequent, and a changed step state writes the task's row each time.
    const isEnd = report.state === 'succeeded' || report.state === 'failed';
    return this.reported(work, isEnd ? notes.addedTo(report, task) : report);
  }

  private async unreachable(work: ClaimedWork): Promise<void> {
    const { reporter } = this;
    // At the usual interval, because another gateway may have that upstream: each has its own sandbox.
    if (!reporter.isOverdue(work)) await this.pollAgain(work, undefined);
    else if (work.task.onSandbox) await reporter.endExpired(work);
    else await reporter.endUnknown(work);
  }

  private async failed(work: ClaimedWork, error: unknown, notes: StepNotes): Promise<void> {
    const { reporter } = this;
    const stepState = notes.stepStateOf(work.task);
    if (reporter.isOverdue(work)) {
      return isUnknownJob(error)
        ? reporter.endExpired(work, error, stepState)
        : reporter.endUnknown(work, error, stepState);
    }
    if (error instanceof ProviderError) await this.pollAgain(work, undefined);
    else await reporter.recordFailure(work, error);
  }

  private async reported(work: ClaimedWork, report: PollReport): Promise<void> {
    const { reporter } = this;
    switch (report.state) {
      case 'pending': {
        if (reporter.isOverdue(work)) return this.giveUp(work);
        return this.pollAgain(work, this.changedFacts(work, report));
      }
      case 'unreadable':
        if (reporter.isOverdue(work)) return reporter.endUnknown(work);
        return reporter.recordFailure(work, 'its result cannot be read');
      case 'failed':
        await reporter.end(work, {
          event: 'failed',
          error: { code: TASK_FAILED, message: report.message },
          fault: report.fault,
          stepState: report.stepState,
        });
        return;
      case 'succeeded':
        return this.succeeded(work, report);
    }
  }

  /** The provider may still work for nothing. A job whose outcome is unknown is not given up: it keeps its hold. */
  private async giveUp(work: ClaimedWork): Promise<void> {
    const isEnded = await this.reporter.end(work, { event: 'expired' });
    if (isEnded) this.jobs.cancel(work.task);
  }

  /** The changed facts, or undefined if nothing changed. The task's row is then not written. */
  private changedFacts(work: ClaimedWork, report: PendingReport): TaskFacts | undefined {
    const { task } = work;
    const { stepState, unknownState } = report;
    const progress = percentOf(report.progress);
    if (unknownState !== undefined) this.unknownStates.seen(task, unknownState);
    const isNewWord = (unknownState ?? null) !== task.unknownState;
    if ((progress ?? -1) <= (task.progress ?? -1) && stepState === undefined && !isNewWord) {
      return undefined;
    }
    return { progress, memory: stepState, ...(isNewWord && { unknown_state: unknownState ?? '' }) };
  }

  private async succeeded(
    work: ClaimedWork,
    report: Extract<PollReport, { state: 'succeeded' }>,
  ): Promise<void> {
    const { result, stepState } = report;
    const progress = percentOf(report.progress ?? null);
    if (this.kinds.of(work.task.kind).collect) {
      const facts = { found: result, progress, memory: stepState };
      await this.reporter.scheduleNext(work, { phase: 'collecting', delayMs: 0, facts });
      return;
    }
    await this.reporter.end(work, { event: 'succeeded', result, progress, stepState });
  }

  private async pollAgain(work: ClaimedWork, facts: TaskFacts | undefined): Promise<void> {
    const delayMs = this.reporter.nextPollMs(work);
    await this.reporter.scheduleNext(work, { phase: 'polling', delayMs, ...(facts && { facts }) });
  }
}

/** The progress as an integer from 0 to 100. Null if it is not a number. */
function percentOf(progress: number | null): number | null {
  if (progress === null || !Number.isFinite(progress)) return null;
  return Math.min(100, Math.max(0, Math.trunc(progress)));
}
