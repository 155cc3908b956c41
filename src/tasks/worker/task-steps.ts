import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
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
    try {
      await this.steps[work.phase].run(work, signal);
    } catch (error) {
      await this.recordFailure(work, error);
    }
  }

  private async recordFailure(work: ClaimedWork, error: unknown): Promise<void> {
    try {
      await this.reporter.recordFailure(work, error);
    } catch (second) {
      this.logger.error(`${toPublicId('task', work.task.id)}: ${String(second)}`);
    }
  }
}
