import { Inject, Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { TaskInputs } from '../submission/task-inputs.js';
import { collectDelayMs } from '../collect-failure.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import type { Task } from '../task.js';
import type { FoundJob } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import type { StepNotes } from './step-notes.js';
import { StepReporter } from './step-reporter.js';
import type { ClaimedWork } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

/** A provider is asked this often: for about seven minutes, with the default interval of polls. */
const MAX_LOOK_UPS = 11;

/** A step that looks a submission up. */
interface LookUp {
  readonly notes: StepNotes;
  readonly signal: AbortSignal;
  readonly error?: unknown;
  /** The provider refused to take the work once more. */
  readonly isRefused?: boolean;
}

/**
 * A submission of which it is unknown whether it arrived. A provider that knows our own reference is asked: if it has the job, the
 * task goes on. Any other task has an unknown outcome, which tells what the provider said.
 */
@Injectable()
export class LostSubmission {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly inputs: TaskInputs,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'taskPollIntervalMs'>,
  ) {}

  /**
   * The provider's id of the job, if it was found; null where a refusal counts, because the provider has no job or cannot be asked.
   * Otherwise the next look-up is scheduled, or the task has ended. The phase stays `submitting`, in which nothing is sent again.
   * `error` says why it is unknown.
   */
  async found(work: ClaimedWork, task: Task, during: LookUp): Promise<string | null | undefined> {
    const { error, notes, isRefused = false } = during;
    // Stored meanwhile, by the process that sent it or from its journal.
    if (task.providerJobId !== null) return task.providerJobId;
    const answer = await this.answerOf(work, task, during);
    if (isRefused && (answer === undefined || answer.state === 'absent')) return null;
    if (answer === undefined) {
      await this.reporter.endUnknown(work, error, notes.stepStateOf(task));
      return undefined;
    }
    const id = toPublicId('task', task.id);
    if (answer.state === 'found') {
      this.logger.warn(
        `${id}: its ${isRefused ? 'repeat was refused' : 'submission was lost'}; provider ${task.provider} has job ${answer.jobId} of this reference`,
      );
      return answer.jobId;
    }
    await this.askAgain(work, answer, during);
    return undefined;
  }

  /** What the provider says that is asked for the job of our reference; undefined where nobody can be asked. */
  async answerOf(
    work: ClaimedWork,
    task: Task,
    { notes, signal }: Pick<LookUp, 'notes' | 'signal'>,
  ): Promise<FoundJob | undefined> {
    const kind = this.kinds.of(task.kind);
    if (!kind.find || work.sealedInput === null || !this.upstreams.isReachable(task))
      return undefined;
    try {
      const input = this.inputs.open(work.sealedInput, task.id);
      return await kind.find({ ...task, input }, this.upstreams.contextOf(task, signal, notes));
    } catch {
      return { state: 'unknown' };
    }
  }

  /** Whether a provider of this kind can be asked for the work by our reference, if it is configured so. */
  isAskable({ sealedInput, task }: ClaimedWork): boolean {
    return sealedInput !== null && this.kinds.of(task.kind).find !== undefined;
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
