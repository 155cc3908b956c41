import { Injectable } from '@nestjs/common';
import { StoredFiles } from '../../platform/storage/stored-files.js';
import type { Task } from '../task.js';
import type { CollectedContent } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { JobsAtProvider } from './jobs-at-provider.js';
import type { StepNotes } from './step-notes.js';
import { TaskUpstreams } from './task-upstreams.js';

/** Downloads and stores the files of finished jobs, and deletes those that no task refers to. */
@Injectable()
export class JobFiles {
  constructor(
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly files: StoredFiles,
    private readonly jobs: JobsAtProvider,
  ) {}

  /** Fetches and stores the file of a job whose result is `task.result`; undefined for kinds without files. */
  async fetch(
    task: Task,
    signal: AbortSignal,
    notes?: StepNotes,
  ): Promise<CollectedContent | undefined> {
    return this.kinds.of(task.kind).collect?.(task, this.upstreams.contextOf(task, signal, notes));
  }

  /**
   * Completes the task with the file. If that fails (falsy result or an error), the file is deleted at once, because the next
   * attempt stores another. After success the job is deleted at the provider.
   */
  async endWith<T>(
    task: Task,
    collected: CollectedContent | undefined,
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
    if (ended) this.jobs.delete(task);
    return ended;
  }
}
