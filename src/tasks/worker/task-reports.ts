import { Inject, Injectable } from '@nestjs/common';
import { isTransient } from '../../database/database-errors.js';
import { persistently } from '../persistently.js';
import { type Advance, TaskStatements } from './task-statements.js';

/** Most reports in one statement. */
const MAX_BATCH = 500;
/** A report that is lost may cost a task its outcome, so a database that is away is waited for. */
export const REPORT_PATIENCE_MS = 600_000;

interface Waiting {
  readonly change: Advance;
  readonly resolve: (applied: boolean) => void;
  readonly reject: (error: unknown) => void;
}

type WorkName = Pick<Advance, 'taskId' | 'fence'>;

/**
 * Carries what steps report to the database: one statement at a time, with everything that was reported meanwhile. No timer:
 * a report that finds the lane idle leaves at once. A statement holds at most one change of a task, for it would apply only
 * one of several.
 */
@Injectable()
export class TaskReports {
  private waiting: Waiting[] = [];
  private isSending = false;
  /** Work whose next phase, or end, is on its way. */
  private readonly moving = new Set<string>();

  constructor(
    @Inject(TaskStatements) private readonly statements: Pick<TaskStatements, 'advance'>,
  ) {}

  /** Whether the change was applied: false where the fence no longer held. Throws what the database says for good. */
  async advance(change: Advance): Promise<boolean> {
    if (change.phase !== undefined) return this.whileMoving(change, () => this.enqueue(change));
    return this.moving.has(nameOf(change)) || this.enqueue(change);
  }

  /**
   * Renews no lease of the work while `move` takes it on: the two statements would wait for each other's rows, each of them
   * holding some of many tasks.
   */
  async whileMoving<T>(work: WorkName, move: () => Promise<T>): Promise<T> {
    const name = nameOf(work);
    this.moving.add(name);
    try {
      return await move();
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

  /** The first change of each task, in the order of arrival; what is left waits for the statements that follow. */
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
      const applied = await persistently(
        () => this.statements.advance(changes),
        REPORT_PATIENCE_MS,
      );
      for (const { change, resolve } of batch) resolve(applied.has(change.taskId));
    } catch (error) {
      // One report that the database refuses must not take the others with it.
      if (batch.length === 1 || isTransient(error)) for (const { reject } of batch) reject(error);
      else for (const item of batch) await this.sendBatch([item]);
    }
  }
}

function nameOf({ taskId, fence }: WorkName): string {
  return `${taskId}/${fence}`;
}
