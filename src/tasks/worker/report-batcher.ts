import { Inject, Injectable } from '@nestjs/common';
import { isTransient } from '../../platform/database/database-errors.js';
import { retryTransient } from '../retry-transient.js';
import { type Advance, TaskWorkRepository } from './task-work.repository.js';

/** Most reports in one statement. */
const MAX_BATCH = 500;
/** Reports are retried for this long, because a lost report may lose the outcome of a task. */
export const REPORT_PATIENCE_MS = 600_000;

interface Waiting {
  readonly change: Advance;
  readonly resolve: (applied: boolean) => void;
  readonly reject: (error: unknown) => void;
}

type WorkName = Pick<Advance, 'taskId' | 'fence'>;

/**
 * Batches the reports of steps: one statement at a time, with every queued report. There is no timer: a report is sent at once
 * while no statement runs. A statement has at most one change per task, because it would apply only one of several.
 */
@Injectable()
export class ReportBatcher {
  private waiting: Waiting[] = [];
  private isSending = false;
  /** Work whose next phase or completion is being written, with a lease renewal that was deferred meanwhile. */
  private readonly moving = new Map<string, Advance | undefined>();

  constructor(
    @Inject(TaskWorkRepository) private readonly statements: Pick<TaskWorkRepository, 'advance'>,
  ) {}

  /**
   * Writes the change. Returns whether it was applied; false if the fence was outdated. Throws permanent errors of the
   * database.
   */
  async advance(change: Advance): Promise<boolean> {
    if (change.phase !== undefined) return this.whileMoving(change, () => this.enqueue(change));
    const name = nameOf(change);
    if (!this.moving.has(name)) return this.enqueue(change);
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
      if (renewal) await this.enqueue(renewal);
      throw error;
    } finally {
      this.moving.delete(name);
    }
  }

  private enqueue(change: Advance): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ change, resolve, reject });
      if (!this.isSending) void this.send();
    });
  }

  private async send(): Promise<void> {
    this.isSending = true;
    while (this.waiting.length > 0) await this.sendBatch(this.nextBatch());
    this.isSending = false;
  }

  /** The first queued change of each task, in order of arrival. The others stay queued. */
  private nextBatch(): Waiting[] {
    const tasks = new Set<string>();
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    for (const item of this.waiting) {
      const { taskId } = item.change;
      if (batch.length < MAX_BATCH && !tasks.has(taskId)) batch.push(item);
      else rest.push(item);
      tasks.add(taskId);
    }
    this.waiting = rest;
    return batch;
  }

  private async sendBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const changes = batch.map(({ change }) => change);
      const applied = await retryTransient(
        () => this.statements.advance(changes),
        REPORT_PATIENCE_MS,
      );
      for (const { change, resolve } of batch) resolve(applied.has(change.taskId));
    } catch (error) {
      // One report made the database refuse the statement, so each is sent alone.
      if (batch.length === 1 || isTransient(error)) for (const { reject } of batch) reject(error);
      else for (const item of batch) await this.sendBatch([item]);
    }
  }
}

function nameOf({ taskId, fence }: WorkName): string {
  return `${taskId}/${fence}`;
}
