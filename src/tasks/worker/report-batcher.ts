import { Inject, Injectable } from '@nestjs/common';
import { StatementBatcher } from '../../platform/database/batching/statement-batcher.js';
import { type Advance, TaskWorkRepository } from './task-work.repository.js';

/** Most reports in one statement. */
const MAX_BATCH = 500;
/** Reports are retried for this long, because a lost report may lose the outcome of a task. */
export const REPORT_PATIENCE_MS = 600_000;

type WorkName = Pick<Advance, 'taskId' | 'fence'>;

/**
 * Writes the reports of steps in shared statements, one at a time. A statement has at most one change per task, because it
 * would apply only one of several.
 */
@Injectable()
export class ReportBatcher {
  private readonly changes: StatementBatcher<Advance, boolean>;
  /** Work whose next phase or completion is being written, with a lease renewal that was deferred meanwhile. */
  private readonly moving = new Map<string, Advance | undefined>();

  constructor(@Inject(TaskWorkRepository) statements: Pick<TaskWorkRepository, 'advance'>) {
    this.changes = new StatementBatcher({
      execute: async (changes) => {
        const applied = await statements.advance(changes);
        return changes.map(({ taskId }) => applied.has(taskId));
      },
      groupOf: ({ taskId }) => taskId,
      isOnePerGroup: true,
      maxBatch: MAX_BATCH,
      retry: { patienceMsOf: () => REPORT_PATIENCE_MS },
    });
  }

  /**
   * Writes the change. Returns whether it was applied; false if the fence was outdated. Throws permanent errors of the
   * database, and others after {@link REPORT_PATIENCE_MS}.
   */
  async advance(change: Advance): Promise<boolean> {
    if (change.phase !== undefined) return this.whileMoving(change, () => this.changes.run(change));
    const name = nameOf(change);
    if (!this.moving.has(name)) return this.changes.run(change);
    this.moving.set(name, change);
    return true;
  }

  /**
   * Defers lease renewals of the work while `move` runs: the two statements lock rows of many tasks and could deadlock. A
   * deferred renewal is sent when `move` fails, so `move` must be one try, not several.
   */
  async whileMoving<T>(work: WorkName, move: () => Promise<T>): Promise<T> {
    const name = nameOf(work);
    this.moving.set(name, undefined);
    try {
      return await move();
    } catch (error) {
      const renewal = this.moving.get(name);
      this.moving.delete(name);
      if (renewal) await this.changes.run(renewal);
      throw error;
    } finally {
      this.moving.delete(name);
    }
  }
}

function nameOf({ taskId, fence }: WorkName): string {
  return `${taskId}/${fence}`;
}
