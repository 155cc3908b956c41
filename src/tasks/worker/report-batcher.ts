import { Inject, Injectable } from '@nestjs/common';
import { isTransient } from '../../platform/database/database-errors.js';
import { retryTransient } from '../retry-transient.js';
import { type Advance, TaskWorkRepository } from './task-work.repository.js';

/** Most reports in one statement. */
const MAX_BATCH = 500;
/** A lost report may cost a task its outcome, so a database that cannot be reached is waited for. */
export const REPORT_PATIENCE_MS = 600_000;

interface Waiting {
  readonly change: Advance;
  readonly resolve: (applied: boolean) => void;
  readonly reject: (error: unknown) => void;
}

type WorkName = Pick<Advance, 'taskId' | 'fence'>;

/**
 * Writes the reports of steps to the database: one statement at a time, with every report that waits. There is no
 * timer: a report that finds no statement under way is sent at once. A statement has at most one change of a task,
 * because it would apply only one of several.
 */
@Injectable()
export class ReportBatcher {
  private waiting: Waiting[] = [];
  private isSending = false;
  /** Work whose next phase, or end, is on its way, with the renewal of its lease that was put off meanwhile. */
  private readonly moving = new Map<string, Advance | undefined>();

  constructor(
    @Inject(TaskWorkRepository) private readonly statements: Pick<TaskWorkRepository, 'advance'>,
  ) {}

  /**
   * Whether the change was applied; false when the fence was out of date. Throws errors of the database that no retry
   * would mend.
   */
  async advance(change: Advance): Promise<boolean> {
    if (change.phase !== undefined) return this.whileMoving(change, () => this.enqueue(change));
    const name = nameOf(change);
    if (!this.moving.has(name)) return this.enqueue(change);
    this.moving.set(name, change);
    return true;
  }

  /**
   * Renews no lease of the work while `move` takes it on: the two statements would wait for each other's rows, each of them
   * holding some of many tasks. A renewal that was put off is made when `move` fails, so `move` is one try, not many.
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

  /** The first change of each task, in the order of arrival. The others wait for the next statements. */
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
      // The database refused the statement because of one report; the others are tried without it.
      if (batch.length === 1 || isTransient(error)) for (const { reject } of batch) reject(error);
      else for (const item of batch) await this.sendBatch([item]);
    }
  }
}

function nameOf({ taskId, fence }: WorkName): string {
  return `${taskId}/${fence}`;
}
