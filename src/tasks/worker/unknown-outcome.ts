import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { DAY_MS, HOUR_MS } from '../../common/time/spans.js';
import { type Task, TASK_FAILED } from '../task.js';
import type { FailedReport, PollReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { LEASE_MS } from '../task-lane.js';
import { JobFiles } from './job-files.js';
import { evidenceOf, LostSubmission, wordsOf } from './lost-submission.js';
import { StepReporter } from './step-reporter.js';
import { type ClaimedWork, type TaskFacts, TaskWorkRepository } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

/** How long the provider is asked about a task after its end. */
export const WATCH_MS = 7 * DAY_MS;
/** A decision is tried this often. Then an operator decides. */
export const MAX_DECISIONS = 5;
/** The provider is asked again after this part of the time for which the outcome has been unknown. */
const SHARE_OF_WAIT = 0.1;
/** Most finished jobs that one process delivers at once, because their files are large. The others wait, and no try is counted. */
const MAX_DELIVERIES = 4;

type Finished = Extract<PollReport, { state: 'succeeded' }>;

interface Decision {
  /** What the provider said. */
  readonly evidence: string;
  readonly signal: AbortSignal;
  readonly end: () => Promise<void>;
}

/**
 * Ends a task with an unknown outcome by what its provider says about it later: a finished job is delivered and settled, a failed
 * one released. A job that is not known is looked for as that of a lost submission. That the provider has none is written, and decides nothing: its
 * key may be another account's by now, and it may have forgotten the job.
 *
 * What the provider said is written before the decision, for operators, and each try of the decision is counted before it begins.
 * The task is never submitted again. What the provider does not decide is left to operators (`TaskResolution`).
 */
@Injectable()
export class UnknownOutcome {
  private readonly logger = new Logger('Tasks');
  private deliveries = 0;

  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly lost: LostSubmission,
    private readonly jobFiles: JobFiles,
    private readonly statements: TaskWorkRepository,
  ) {}

  /** Asks once. The outcome has been unknown for `waitedMs`. */
  async ask(work: ClaimedWork, waitedMs: number, signal: AbortSignal): Promise<void> {
    if (!this.upstreams.isReachable(work.task)) await this.askLater(work, waitedMs);
    else if (work.task.providerJobId === null) await this.lookUp(work, waitedMs, signal);
    else await this.poll(work, waitedMs, signal);
  }

  private async lookUp(work: ClaimedWork, waitedMs: number, signal: AbortSignal): Promise<void> {
    const { task } = work;
    const notes = this.upstreams.notesOf('submit', work);
    const answer = await this.lost.answerOf(work, task, { notes, signal });
    switch (answer?.state) {
      case undefined:
        // Nobody can be asked: now, or ever.
        return this.lost.isAskable(work)
          ? this.askLater(work, waitedMs)
          : this.statements.unwatch(work);
      case 'unknown':
        return this.askLater(work, waitedMs);
      case 'absent':
        return this.askLater(work, waitedMs, { evidence: evidenceOf(answer) });
      case 'found': {
        const { jobId } = answer;
        this.logger.warn(
          `${nameOf(task)}: provider ${task.provider} has job ${jobId} of it, ${wordsOf(answer)}`,
        );
        const memory = notes.stepStateOf(task);
        await this.reporter.scheduleNext(work, {
          phase: 'watching',
          delayMs: 0,
          failureCount: work.failureCount,
          facts: { job_id: jobId, evidence: evidenceOf(answer), memory },
        });
      }
    }
  }

  private async poll(work: ClaimedWork, waitedMs: number, signal: AbortSignal): Promise<void> {
    const { task } = work;
    const notes = this.upstreams.notesOf('poll', work);
    const context = this.upstreams.contextOf(task, signal, notes);
    const report = await this.kinds
      .of(task.kind)
      .poll(task, context)
      .catch(() => undefined);
    if (report?.state === 'succeeded') {
      await this.deliver(work, waitedMs, notes.addedTo(report, task), signal);
    } else if (report?.state === 'failed' && wasDone(work)) {
      // It was made, and may be billed: its provider has only removed it.
      await this.askLater(work, waitedMs);
    } else if (report?.state === 'failed') {
      const end = () => this.fail(work, notes.addedTo(report, task));
      await this.decide(work, waitedMs, { evidence: report.state, end, signal });
    } else await this.askLater(work, waitedMs, report && { evidence: report.state });
  }

  private async deliver(
    work: ClaimedWork,
    waitedMs: number,
    report: Finished,
    signal: AbortSignal,
  ): Promise<void> {
    const evidence = report.state;
    if (this.deliveries >= MAX_DELIVERIES) return this.askLater(work, 0, { evidence });
    this.deliveries += 1;
    try {
      const end = () => this.succeed(work, report, signal);
      await this.decide(work, waitedMs, { evidence, end, signal });
    } finally {
      this.deliveries -= 1;
    }
  }

  /** Writes the evidence, and then ends the task, if that was not tried too often. */
  private async decide(
    work: ClaimedWork,
    waitedMs: number,
    { evidence, end, signal }: Decision,
  ): Promise<void> {
    const { task, failureCount } = work;
    const facts = { evidence };
    const next = { phase: 'watching', facts } as const;
    if (failureCount >= MAX_DECISIONS) {
      await this.reporter.scheduleNext(work, { ...next, delayMs: WATCH_MS, failureCount });
      return;
    }
    const tries = failureCount + 1;
    const begun = { ...next, delayMs: LEASE_MS, failureCount: tries };
    if (!(await this.reporter.scheduleNext(work, begun))) return;
    try {
      await end();
    } catch (error) {
      this.logger.warn(
        `${nameOf(task)}: the provider says ${evidence}, but the task cannot be ended by that (${tries}): ${String(error)}`,
      );
      // An abort is no failure of the decision.
      if (signal.aborted)
        await this.reporter.scheduleNext(work, { ...next, delayMs: 0, failureCount });
      else await this.askLater({ ...work, failureCount: tries }, waitedMs * 2 ** tries, facts);
    }
  }

  private async succeed(work: ClaimedWork, report: Finished, signal: AbortSignal): Promise<void> {
    const { task } = work;
    const { result, progress = null, stepState } = report;
    const file = await this.jobFiles.fetch({ ...task, result }, signal);
    const isEnded = await this.jobFiles.endWith(task, file, () =>
      this.reporter.end(work, {
        event: 'resolvedAsSucceeded',
        result: file?.result ?? result,
        progress,
        stepState,
        ...(file && { content: file.content }),
      }),
    );
    if (isEnded) this.logger.warn(`${nameOf(task)}: its unknown outcome is known: it succeeded`);
  }

  private async fail(
    work: ClaimedWork,
    { message, code = TASK_FAILED, fault, stepState }: FailedReport,
  ): Promise<void> {
    const error = { code, message };
    await this.reporter.end(work, { event: 'resolvedAsFailed', error, fault, stepState });
  }

  private async askLater(work: ClaimedWork, waitedMs: number, facts?: TaskFacts): Promise<void> {
    await this.reporter.scheduleNext(work, {
      phase: 'watching',
      delayMs: Math.max(this.reporter.longestMs, Math.min(HOUR_MS, waitedMs * SHARE_OF_WAIT)),
      failureCount: work.failureCount,
      ...(facts && { facts }),
    });
  }
}

/** The provider has said of the job that it succeeded. */
function wasDone({ task, found }: ClaimedWork): boolean {
  return found !== null || task.evidence?.status === 'succeeded';
}

function nameOf({ id }: Task): string {
  return toPublicId('task', id);
}
