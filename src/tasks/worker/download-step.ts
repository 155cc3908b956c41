import { Injectable } from '@nestjs/common';
import { isWithoutFile } from '../collect-failure.js';
import { JobFiles } from './job-files.js';
import { StepReporter } from './step-reporter.js';
import type { CollectedContent } from '../task-kind.js';
import type { ClaimedWork } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';

/** Fetches and stores the file of a finished job, ends the task, and asks the provider to delete the job. */
@Injectable()
export class DownloadStep {
  constructor(
    private readonly reporter: StepReporter,
    private readonly upstreams: TaskUpstreams,
    private readonly files: JobFiles,
  ) {}

  async run(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    // Another upstream does not know the job: each gateway has its own sandbox, and a key may come or go.
    if (!this.upstreams.isReachable(work.task)) {
      return this.reporter.deferDownload(
        work,
        new Error('the upstream that has the file is not configured here'),
      );
    }
    const result = work.found ?? {};
    const task = { ...work.task, result };
    const notes = this.upstreams.notesOf('download', work);
    let collected: CollectedContent | undefined;
    try {
      collected = await this.files.fetch(task, signal, notes);
    } catch (error) {
      if (!signal.aborted) {
        return isWithoutFile(error)
          ? this.reporter.recordFailure(work, error)
          : this.reporter.deferDownload(work, error, notes.stepStateOf(work.task));
      }
      // An abort is no failure of the download.
      const { failureCount } = work;
      await this.reporter.scheduleNext(work, {
        phase: 'collecting',
        delayMs: 0,
        failureCount,
      });
      return;
    }
    await this.files.endWith(work.task, collected, () =>
      this.reporter.end(work, {
        event: 'succeeded',
        result: collected?.result ?? result,
        stepState: notes.stepStateOf(work.task),
        ...(collected && { content: collected.content }),
      }),
    );
  }
}
