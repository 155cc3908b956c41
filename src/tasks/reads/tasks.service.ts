import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { fromPublicId } from '../../common/ids/public-id.js';
import type { Page } from '../../common/paging/page.js';
import { timeRangeOf } from '../../common/time/time-range.js';
import type { TasksQuery } from '../dto/tasks.query.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import { type TaskFilter, TaskRepository } from './task.repository.js';
import { LongPoll } from './long-poll.js';

/** How long a client waits for the end of a task, and how its disconnect is noticed. */
export interface WaitPreference {
  readonly seconds: number;
  readonly onDisconnect: (listener: () => void) => void;
}

/** A task, and the requested wait if it was granted. */
export interface AwaitedTask {
  readonly task: Task;
  readonly waitSeconds?: number;
}

/** Reads tasks for the holder of a key. */
@Injectable()
export class TasksService {
  constructor(
    private readonly repository: TaskRepository,
    private readonly longPoll: LongPoll,
    private readonly kinds: TaskKinds,
  ) {}

  /** Throws the same 404 `task_not_found` for unknown, foreign and malformed ids (decision G-52). */
  async get(caller: Pick<Caller, 'accountId'>, id: string): Promise<Task> {
    const uuid = fromPublicId('task', id);
    const task = uuid && (await this.repository.find(uuid, caller.accountId));
    if (!task) throw taskNotFound();
    return task;
  }

  /** {@link get}, after waiting for the task's end as long as requested (decision G-98). */
  async getAfterWait(
    caller: Caller,
    id: string,
    preference: WaitPreference | undefined,
  ): Promise<AwaitedTask> {
    const task = await this.get(caller, id);
    if (preference === undefined) return { task };
    const { seconds: waitSeconds, onDisconnect } = preference;
    const ends = this.kinds.terminalStatusesFor(task);
    if (ends.includes(task.status)) return { task, waitSeconds };
    const hasWaited = await this.longPoll.untilEnded({
      taskId: task.id,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      ends,
      waitMs: waitSeconds * 1000,
      onDisconnect,
    });
    return hasWaited ? { task: await this.get(caller, id), waitSeconds } : { task };
  }

  /** Tasks of the caller's account, newest first. */
  async list(caller: Caller, query: TasksQuery): Promise<Page<Task>> {
    return this.repository.list({ ...filterOf(query), accountId: caller.accountId }, query);
  }
}

/** The filter of a list's query. Throws 400 `invalid_request` for an empty range of times. */
export function filterOf(query: TasksQuery): TaskFilter {
  return {
    status: query.status,
    model: query.model,
    modality: query.modality,
    clientRequestId: query.client_request_id,
    ...timeRangeOf(query),
  };
}

/** The error for an id that is not one of the account's tasks. */
export function taskNotFound(): GatewayError {
  return new GatewayError('task_not_found', 'No such task.', { param: 'id' });
}
