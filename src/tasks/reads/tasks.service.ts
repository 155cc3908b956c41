import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { fromPublicId } from '../../common/ids/public-id.js';
import type { Page } from '../../common/paging/page.js';
import type { TasksQuery } from '../dto/tasks.query.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import { type TaskFilter, TaskRepository } from './task.repository.js';
import { LongPoll } from './long-poll.js';

/** How long a reader waits for a task's end, and how it says that it has gone. */
export interface Patience {
  readonly seconds: number;
  readonly onGone: (listener: () => void) => void;
}

/** A task, and the requested wait if it was granted. */
export interface AwaitedTask {
  readonly task: Task;
  readonly waitSeconds?: number;
}

/** What the holder of a key reads of the account's tasks. */
@Injectable()
export class TasksService {
  constructor(
    private readonly reader: TaskRepository,
    private readonly waits: LongPoll,
    private readonly kinds: TaskKinds,
  ) {}

  /** Throws the same 404 `task_not_found` for unknown, foreign and malformed ids (decision G-52). */
  async get(reader: Pick<Caller, 'accountId'>, id: string): Promise<Task> {
    const uuid = fromPublicId('task', id);
    const task = uuid && (await this.reader.find(uuid, reader.accountId));
    if (!task) throw noTask();
    return task;
  }

  /** {@link get}, after waiting for the task's end as long as the reader wants to (decision G-98). */
  async getAfterWait(
    caller: Caller,
    id: string,
    patience: Patience | undefined,
  ): Promise<AwaitedTask> {
    const task = await this.get(caller, id);
    if (patience === undefined) return { task };
    const { seconds: waitSeconds, onGone } = patience;
    const ends = this.kinds.terminalStatusesFor(task);
    if (ends.includes(task.status)) return { task, waitSeconds };
    const hasWaited = await this.waits.untilEnded({
      taskId: task.id,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      ends,
      waitMs: waitSeconds * 1000,
      onGone,
    });
    return hasWaited ? { task: await this.get(caller, id), waitSeconds } : { task };
  }

  /** Tasks of the caller's account, newest first. */
  list(caller: Caller, query: TasksQuery): Promise<Page<Task>> {
    return this.reader.list({ ...filterOf(query), accountId: caller.accountId }, query);
  }
}

/** The filter of a list's query. */
export function filterOf(query: TasksQuery): TaskFilter {
  return {
    status: query.status,
    model: query.model,
    modality: query.modality,
    clientRequestId: query.client_request_id,
    createdAfter: dateOf(query.created_after),
    createdBefore: dateOf(query.created_before),
  };
}

function dateOf(epochSeconds: number | undefined): Date | undefined {
  return epochSeconds === undefined ? undefined : new Date(epochSeconds * 1000);
}

/** The answer for an id that is not one of the account's tasks. */
export function noTask(): GatewayError {
  return new GatewayError('task_not_found', 'No such task.', { param: 'id' });
}
