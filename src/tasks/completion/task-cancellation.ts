import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type Task, TASK_CANCELLED } from '../task.js';
import { TaskCompletion } from './task-completion.js';
import { TasksService } from '../reads/tasks.service.js';

const PATIENCE_MS = 2_000;

/** Cancels tasks that were not sent to a provider yet (decision G-102). */
@Injectable()
export class TaskCancellation {
  constructor(
    private readonly reads: TasksService,
    private readonly completion: TaskCompletion,
  ) {}

  /**
   * Cancels the task and returns it; repeating it returns the same. Throws 404 `task_not_found`, and 409
   * `task_not_cancellable` for a task that was sent or has ended.
   */
  async cancel(caller: Caller, id: string): Promise<Task> {
    const task = await this.reads.get(caller, id);
    if (isCancelled(task)) return task;
    const error = { code: TASK_CANCELLED, message: 'The task was cancelled by its holder.' };
    const completion = { event: 'cancelled', fence: null, error } as const;
    const ended = await this.completion.end(task, completion, PATIENCE_MS);
    if (ended) return ended;
    // Another request may have cancelled it just now.
    const now = await this.reads.get(caller, id);
    if (isCancelled(now)) return now;
    throw new GatewayError(
      'task_not_cancellable',
      'The task was sent to the provider or has ended.',
      { param: 'id' },
    );
  }
}

function isCancelled({ error }: Task): boolean {
  return error?.code === TASK_CANCELLED;
}
