import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Task } from './task.js';
import { TaskEnding } from './task-ending.js';
import { TaskReads } from './task-reads.js';
import { TaskStatements } from './task-statements.js';

/** Code of a task that its holder cancelled (decision G-102). */
const CANCELLED = 'task_cancelled';
/** A worker that has just claimed the task without having begun changes the fence; then we look again. */
const TRIES = 3;
const PATIENCE_MS = 2_000;

/** Cancels tasks that nobody has begun to submit (decision G-102). */
@Injectable()
export class TaskCancellation {
  constructor(
    private readonly reads: TaskReads,
    private readonly statements: TaskStatements,
    private readonly ending: TaskEnding,
  ) {}

  /**
   * The cancelled task, also where it was cancelled before. Throws 404 `task_not_found`, and 409 `task_not_cancellable` for a
   * task that was sent or has ended.
   */
  async cancel(caller: Caller, id: string): Promise<Task> {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      const task = await this.reads.get(caller, id);
      if (task.error?.code === CANCELLED) return task;
      const fence = await this.statements.fenceOfUnsent(task.accountId, task.id);
      if (fence === undefined) break;
      const error = { code: CANCELLED, message: 'The task was cancelled by its holder.' };
      const ended = await this.ending.end(task, { event: 'cancelled', fence, error }, PATIENCE_MS);
      if (ended) return ended;
    }
    throw new GatewayError(
      'task_not_cancellable',
      'The task was sent to the provider or has ended.',
      { param: 'id' },
    );
  }
}
