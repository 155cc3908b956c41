import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import { StoredFiles } from '../../platform/storage/stored-files.js';
import type { Task } from '../task.js';
import type { CollectedContent } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { TaskUpstreams } from './task-upstreams.js';

/** The files of finished jobs: fetched from the provider and stored, and dropped again where no task came to name them. */
@Injectable()
export class JobFiles {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly files: StoredFiles,
  ) {}

  /** Fetches and stores the file of a job whose result is `task.result`; undefined for kinds without files. */
  async fetch(task: Task, signal: AbortSignal): Promise<CollectedContent | undefined> {
    return this.kinds.of(task.kind).collect?.(task, this.upstreams.contextOf(task, signal));
  }

  /**
   * Ends the task with the file. If the end is not recorded (false, or an error), the file is deleted at once, because the next
   * attempt stores another. After the end the provider is asked to delete the job.
   */
  async endWith<T>(
    task: Task,
    collected: CollectedContent | undefined,
    signal: AbortSignal,
    end: () => Promise<T>,
  ): Promise<T> {
    let ended: T | undefined;
    try {
      ended = await end();
    } finally {
      if (!ended && collected) {
        await this.files.removeUnreferenced(task.accountId, collected.content.fileId);
      }
    }
    if (ended) await this.tidy(task, signal);
    return ended;
  }

  /** What the provider keeps does not change the task, so a failure is only logged. */
  private async tidy(task: Task, signal: AbortSignal): Promise<void> {
    try {
      await this.kinds
        .of(task.kind)
        .deleteAtProvider?.(task, this.upstreams.contextOf(task, signal));
    } catch (error) {
      this.logger.warn(
        `${toPublicId('task', task.id)}: its job stays at the provider: ${String(error)}`,
      );
    }
  }
}
