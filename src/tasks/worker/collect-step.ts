import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import type { JsonObject } from '../../common/json-object.js';
import type { StopSignal } from '../../common/stop-signal.js';
import { StoredFiles } from '../../storage/stored-files.js';
import { isWithoutFile } from '../collect-failure.js';
import { StepReporter } from './step-reporter.js';
import type { CollectedContent } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import type { ClaimedWork } from './task-statements.js';
import { TaskUpstreams } from './task-upstreams.js';

/** Fetches and stores the file of a finished job, ends the task, and asks the provider to delete the job. */
@Injectable()
export class CollectStep {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly files: StoredFiles,
  ) {}

  async run(work: ClaimedWork, signal: StopSignal): Promise<void> {
    // Each gateway has a sandbox of its own, and another one would deny the file.
    if (work.task.onSandbox && !this.upstreams.isReachable(work.task)) {
      return this.reporter.collectLater(work, new Error('another gateway has its sandbox'));
    }
    const result = work.found ?? {};
    const task = { ...work.task, result };
    let collected: CollectedContent | undefined;
    try {
      const context = this.upstreams.contextOf(task, signal);
      collected = await this.kinds.of(task.kind).collect?.(task, context);
    } catch (error) {
      if (!signal.aborted) {
        return isWithoutFile(error)
          ? this.reporter.strike(work, error)
          : this.reporter.collectLater(work, error);
      }
      // A shutdown tells nothing about the file.
      const { strikes } = work;
      await this.reporter.goOn(work, { phase: 'collecting', delayMs: 0, strikes });
      return;
    }
    if (await this.end(work, collected, result)) await this.tidy(work, signal);
  }

  /** If the end of the task is not recorded, the stored file is deleted at once, because the next attempt stores another. */
  private async end(
    work: ClaimedWork,
    collected: CollectedContent | undefined,
    found: JsonObject,
  ): Promise<boolean> {
    let isEnded = false;
    try {
      isEnded = await this.reporter.end(work, {
        event: 'succeeded',
        result: collected?.result ?? found,
        ...(collected && { content: collected.content }),
      });
    } finally {
      const { accountId } = work.task;
      if (!isEnded && collected) {
        await this.files.removeUnnamed(accountId, collected.content.fileId);
      }
    }
    return isEnded;
  }

  /** What the provider keeps does not change the task, so a failure is only logged. */
  private async tidy({ task }: ClaimedWork, signal: StopSignal): Promise<void> {
    try {
      await this.kinds.of(task.kind).tidy?.(task, this.upstreams.contextOf(task, signal));
    } catch (error) {
      this.logger.warn(
        `${toPublicId('task', task.id)}: its job stays at the provider: ${String(error)}`,
      );
    }
  }
}
