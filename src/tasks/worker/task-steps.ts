import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { faultWordOf, type TracedSpan } from '../../platform/observability/traced-span.js';
import { Tracing } from '../../platform/observability/tracing.js';
import { DownloadStep } from './download-step.js';
import { PollStep } from './poll-step.js';
import { StepReporter } from './step-reporter.js';
import { SubmitStep } from './submit-step.js';
import type { TaskPhase } from '../task-lane.js';
import type { ClaimedWork } from './task-work.repository.js';
import { LateResultStep } from './late-result-step.js';

interface Step {
  run(work: ClaimedWork, signal: AbortSignal): Promise<void>;
}

/** What each phase does, in traces. */
const SPAN_NAMES = {
  waiting: 'submit',
  submitting: 'submit',
  polling: 'poll',
  collecting: 'download',
  watching: 'watch',
} as const;

/** Runs the next step of claimed work. */
@Injectable()
export class TaskSteps {
  private readonly logger = new Logger('Tasks');
  private readonly steps: Readonly<Record<TaskPhase, Step>>;

  constructor(
    submit: SubmitStep,
    poll: PollStep,
    collect: DownloadStep,
    watch: LateResultStep,
    private readonly reporter: StepReporter,
    private readonly tracing: Tracing,
  ) {
    this.steps = {
      waiting: submit,
      submitting: submit,
      polling: poll,
      collecting: collect,
      watching: watch,
    };
  }

  /**
   * Never throws. An unexpected error is counted as a failure. If that cannot be stored, the lease expires and the work is
   * claimed again.
   */
  async run(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const span = this.spanOf(work);
    let error: string | undefined;
    try {
      await this.steps[work.phase].run(span ? { ...work, span } : work, signal);
    } catch (thrown) {
      error = faultWordOf(thrown);
      await this.recordFailure(work, thrown);
    }
    span?.end({ error });
  }

  private spanOf({ phase, task }: ClaimedWork): TracedSpan | undefined {
    return this.tracing.ofTask(task.id, `task ${SPAN_NAMES[phase]}`, () => ({
      taskId: toPublicId('task', task.id),
      accountId: toPublicId('acct', task.accountId),
      model: task.model,
    }));
  }

  private async recordFailure(work: ClaimedWork, error: unknown): Promise<void> {
    try {
      await this.reporter.recordFailure(work, error);
    } catch (second) {
      this.logger.error(`${toPublicId('task', work.task.id)}: ${String(second)}`);
    }
  }
}
