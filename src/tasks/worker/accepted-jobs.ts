import { Injectable, Logger } from '@nestjs/common';
import type { UnrecordedJob } from '../../billing/recovery/reversal.js';
import { Reversals } from '../../billing/recovery/reversals.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { retryTransient } from '../../platform/database/retry-transient.js';
import type { Task } from '../task.js';
import { laneOf } from '../task-lane.js';
import { REPORT_PATIENCE_MS } from './report-batcher.js';
import { LostSubmission } from './lost-submission.js';
import { StepReporter } from './step-reporter.js';
import { type ClaimedWork, TaskWorkRepository } from './task-work.repository.js';

/** The id of an accepted job that is not in the database after this time is also written to disk. */
const JOURNAL_AFTER_MS = 2_000;

/** Keeps the ids of accepted jobs, also while the database is slow or another process has the task, and finds lost ones. */
@Injectable()
export class AcceptedJobs {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly reporter: StepReporter,
    private readonly statements: TaskWorkRepository,
    private readonly reversals: Reversals,
    private readonly lost: LostSubmission,
  ) {}

  /** {@link LostSubmission.found} */
  found(...lookUp: Parameters<LostSubmission['found']>): ReturnType<LostSubmission['found']> {
    return this.lost.found(...lookUp);
  }

  /** Waits for the report that names the job; `written` says whether the task was still ours. */
  async store(work: ClaimedWork, jobId: string, written: Promise<boolean>): Promise<void> {
    if (!(await this.orJournal(work, jobId, written))) await this.storeJobId(work, jobId);
  }

  /** Writes the job id to disk if the database takes long to store it, so that it survives a crash of this process. */
  private async orJournal(
    work: ClaimedWork,
    jobId: string,
    written: Promise<boolean>,
  ): Promise<boolean> {
    const journal = () => this.reversals.addDurably(this.recordOf(work.task, jobId));
    let journalled: Promise<void> | undefined;
    const timer = setTimeout(() => {
      journalled = journal();
      // An error is thrown below, if the database does not store it either.
      journalled.catch(() => undefined);
    }, JOURNAL_AFTER_MS).unref();
    try {
      return await written;
    } catch (error) {
      await (journalled ?? journal());
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Stores the job id of a task that was taken over before the provider responded. Its outcome is unknown. */
  private async storeJobId(work: ClaimedWork, jobId: string): Promise<void> {
    const record = this.recordOf(work.task, jobId);
    const kept = await retryTransient(() => this.statements.storeJobId(record), REPORT_PATIENCE_MS);
    if (kept === 'nothing') return;
    const id = toPublicId('task', work.task.id);
    const end = kept === 'kept' ? '' : `, which is dropped: ${kept}`;
    this.logger.warn(`${id}: accepted as job ${jobId} after it was taken over${end}`);
  }

  private recordOf(task: Task, jobId: string): UnrecordedJob {
    const { id: taskId, accountId } = task;
    const watch = { watchLane: laneOf('watching', task), watchMs: this.reporter.longestMs };
    return { taskId, accountId, jobId, ...watch, ...this.lost.othersOf(task) };
  }
}
