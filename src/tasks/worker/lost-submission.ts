import { Inject, Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { TaskInputs } from '../submission/task-inputs.js';
import { collectDelayMs } from '../collect-failure.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import { UPSTREAM_TIMEOUTS } from '../../providers/http/upstream-timeouts.js';
import type { MadeWithin } from '../../providers/ports/job.port.js';
import type { Task } from '../task.js';
import type { FoundJob, SubmitReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import type { StepNotes } from './step-notes.js';
import { StepReporter } from './step-reporter.js';
import { type ClaimedWork, TaskWorkRepository } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

/** A provider is asked this often: for about seven minutes, with the default interval of polls. */
const MAX_LOOK_UPS = 11;
/** A vendor begins a job at most this long after the submission was sent: then its answer is not waited for any more. */
const MADE_AFTER_MS = UPSTREAM_TIMEOUTS.submit.headMs;
/** The clocks of a vendor and of the database differ by less. */
const CLOCK_MARGIN_MS = 60_000;

type AcceptedReport = Extract<SubmitReport, { state: 'accepted' }>;

/** A step that looks a submission up. */
interface LookUp {
  readonly notes: StepNotes;
  readonly signal: AbortSignal;
  readonly error?: unknown;
  /**
   * The provider refused to take the work once more. Then it is asked by our reference only: what refuses a name that it has knows that
   * name, and a list without the job would decide nothing.
   */
  readonly isRefused?: boolean;
}

/**
 * A submission of which it is unknown whether it arrived. A provider that knows our own reference, or lists its jobs, is asked: if it
 * has the job, the task goes on. Any other task has an unknown outcome, which tells what the provider said.
 */
@Injectable()
export class LostSubmission {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly inputs: TaskInputs,
    private readonly statements: TaskWorkRepository,
    @Inject(GATEWAY_CONFIG)
    private readonly config: Pick<GatewayConfig, 'taskPollIntervalMs' | 'taskDeadlineMs'>,
  ) {}

  /**
   * The report of the job, if it was found; null where a refusal counts, because the provider has no job or cannot be asked.
   * Otherwise the next look-up is scheduled, or the task has ended. The phase stays `submitting`, in which nothing is sent again.
   * `error` says why it is unknown.
   */
  async found(
    work: ClaimedWork,
    task: Task,
    during: LookUp,
  ): Promise<AcceptedReport | null | undefined> {
    const { error, notes, isRefused = false } = during;
    // Stored meanwhile, by the process that sent it or from its journal.
    if (task.providerJobId !== null) return { state: 'accepted', jobId: task.providerJobId };
    const answer = await this.answerOf(work, task, during);
    if (isRefused && (answer === undefined || answer.state === 'absent')) return null;
    if (answer === undefined) {
      await this.reporter.endUnknown(work, error, notes.stepStateOf(task));
      return undefined;
    }
    const id = toPublicId('task', task.id);
    if (answer.state === 'found') {
      const { jobId, isByTime } = answer;
      this.logger.warn(
        `${id}: its ${isRefused ? 'repeat was refused' : 'submission was lost'}; provider ${task.provider} has job ${jobId}, ${wordsOf(answer)}`,
      );
      return { state: 'accepted', jobId, ...(isByTime && { evidence: evidenceOf(answer) }) };
    }
    await this.askAgain(work, answer, during);
    return undefined;
  }

  /**
   * What the provider says that is asked for the job of the task; undefined where nobody can be asked. A job that was found by its time
   * is one of this task alone, which has it then.
   */
  async answerOf(
    work: ClaimedWork,
    task: Task,
    { notes, signal, isRefused = false }: LookUp,
  ): Promise<FoundJob | undefined> {
    const kind = this.kinds.of(task.kind);
    if (!kind.find || work.sealedInput === null || !this.upstreams.isReachable(task))
      return undefined;
    const made = madeWithin(task, notes);
    notes.beginLookUp();
    try {
      const input = this.inputs.open(work.sealedInput, task.id);
      const context = this.upstreams.contextOf(task, signal, notes);
      const answer = await kind.find({ ...task, input }, context, isRefused ? undefined : made);
      if (answer?.state !== 'found' || !answer.isByTime) return answer;
      return (await this.take(task, answer.jobId, made)) ? answer : { state: 'unknown' };
    } catch (error) {
      // What the provider says is on the record. A fault of ours would end look-ups unseen.
      if (!(error instanceof ProviderError))
        this.logger.warn(`${toPublicId('task', task.id)}: its look-up failed: ${String(error)}`);
      return { state: 'unknown' };
    }
  }

  /** Whether a provider of this kind can be asked for the work by our reference, if it is configured so. */
  isAskable({ sealedInput, task }: ClaimedWork): boolean {
    return sealedInput !== null && this.kinds.of(task.kind).find !== undefined;
  }

  /** How far apart tasks are created of which one may take the job of another. */
  othersOf({ kind }: Task): { readonly othersMs?: number } {
    return this.kinds.of(kind).find ? { othersMs: this.config.taskDeadlineMs } : {};
  }

  private take(task: Task, jobId: string, made: MadeWithin): Promise<boolean> {
    const owners = {
      fromMs: made.fromMs - this.config.taskDeadlineMs,
      toMs: made.toMs + CLOCK_MARGIN_MS,
    };
    return this.statements.takeFoundJob(task, { jobId, owners });
  }

  private async askAgain(
    work: ClaimedWork,
    { state }: Exclude<FoundJob, { state: 'found' }>,
    { error, notes }: LookUp,
  ): Promise<void> {
    const { reporter } = this;
    const { task } = work;
    const lookUps = (work.phase === 'submitting' ? work.failureCount : 0) + 1;
    const stepState = notes.stepStateOf(task);
    if (lookUps < MAX_LOOK_UPS && !reporter.isOverdue(work)) {
      const delayMs = collectDelayMs(lookUps - 1, 0, this.config.taskPollIntervalMs) ?? 0;
      await reporter.scheduleNext(work, {
        phase: 'submitting',
        delayMs: reporter.withinDeadline(work, delayMs),
        failureCount: lookUps,
        facts: { memory: stepState },
      });
    } else if (state === 'absent') {
      await reporter.endUnknown(work, noSuchJob(task), stepState);
    } else await reporter.endUnknown(work, error, stepState);
  }
}

/** When the job of the last submission of the task can have been made. Of one whose process ended, the submission of the task counts. */
function madeWithin(task: Task, notes: StepNotes): MadeWithin {
  const sentAtMs = task.createdAt.getTime() + notes.openedMs(task);
  return { fromMs: sentAtMs - CLOCK_MARGIN_MS, toMs: sentAtMs + MADE_AFTER_MS + CLOCK_MARGIN_MS };
}

/** What operators read of a job that was found, or is not there. */
export function evidenceOf({ state, isByTime }: Exclude<FoundJob, { state: 'unknown' }>): string {
  return isByTime ? `${state}_by_time` : state;
}

/** The same of a found job, for the log. */
export const wordsOf = ({ isByTime }: { readonly isByTime: boolean }): string =>
  isByTime ? 'found by its time and fields' : 'found by our reference';

/**
 * What operators read where the provider says that it has no job of the task. The hold stays: the request may still arrive, and the
 * key may have become that of another account.
 */
function noSuchJob({ provider }: Task): ProviderError {
  return new ProviderError('misconfigured', {
    provider,
    sent: true,
    upstreamCode: 'no_such_job',
    upstreamMessage: 'The answer to the last look-up: the provider has no job of this task.',
  });
}
