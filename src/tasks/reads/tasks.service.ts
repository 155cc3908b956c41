import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { OpenReads } from '../../auth/open-reads.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { fromPublicId } from '../../common/ids/public-id.js';
import type { Page } from '../../common/paging/page.js';
import { timeRangeOf } from '../../common/time/time-range.js';
import type { TasksQuery } from '../dto/tasks.query.js';
import type { Task, TaskStatus } from '../task.js';
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
    private readonly openReads: OpenReads,
  ) {}

  /** Throws the same 404 `task_not_found` for unknown, foreign and malformed ids (decision G-52). */
  async get(caller: Pick<Caller, 'accountId'>, id: string): Promise<Task> {
    const uuid = fromPublicId('task', id);
    const task = uuid && (await this.repository.find(uuid, caller.accountId));
    if (!task) throw taskNotFound();
    return task;
  }

  /**
   * {@link get}, after waiting for the task's end as long as requested (decision G-98). Throws within 2 s the error that the next
   * request would get, when the key or the session may read no more.
   */
  async getAfterWait(
    caller: Caller,
    id: string,
    preference: WaitPreference | undefined,
  ): Promise<AwaitedTask> {
    const task = await this.get(caller, id);
    if (preference === undefined) return { task };
    const { seconds: waitSeconds } = preference;
    const ends = this.kinds.terminalStatusesFor(task);
    if (ends.includes(task.status)) return { task, waitSeconds };
    const hasWaited = await this.wait(caller, task, ends, preference);
    return hasWaited ? { task: await this.get(caller, id), waitSeconds } : { task };
  }

  private async wait(
    caller: Caller,
    { id: taskId, accountId }: Task,
    ends: readonly TaskStatus[],
    { seconds, onDisconnect }: WaitPreference,
  ): Promise<boolean> {
    const read: { refusal?: GatewayError; forget?: () => void } = {};
    const { apiKeyId } = caller;
    const hasWaited = await this.longPoll.untilEnded({
      ...{ taskId, accountId, apiKeyId, ends, waitMs: seconds * 1000 },
      onDisconnect: (wake) => {
        onDisconnect(wake);
        read.forget = this.openReads.watch(caller, 'call', (refusal) => {
          read.refusal = refusal;
          wake();
        });
      },
    });
    read.forget?.();
    if (read.refusal) throw read.refusal;
    return hasWaited;
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
