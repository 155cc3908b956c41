import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../../auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { fromPublicId } from '../../common/ids/public-id.js';
import type { Page } from '../../common/paging/page.js';
import type { TasksQuery } from '../dto/tasks.query.js';
import type { Task } from '../task.js';
import { type TaskFilter, TaskReader } from './task-reader.js';
import { isFinal } from '../task-state-machine.js';
import { TaskWaits } from './task-waits.js';
import { waitSecondsOf } from './wait-preference.js';

/** What the holder of a key reads of the account's tasks. */
@Injectable()
export class TaskReads {
  constructor(
    private readonly reader: TaskReader,
    private readonly waits: TaskWaits,
  ) {}

  /** Throws the same 404 `task_not_found` for unknown, foreign and malformed ids (decision G-52). */
  async get(caller: Caller, id: string): Promise<Task> {
    const uuid = fromPublicId('task', id);
    const task = uuid && (await this.reader.find(uuid, caller.accountId));
    if (!task) throw noTask();
    return task;
  }

  /**
   * {@link get}, after waiting for the task's end as the request's `Prefer` asks; says so in the head of the answer
   * (decision G-98).
   */
  async getAsPreferred(
    caller: Caller,
    id: string,
    request: Request,
    response: Response,
  ): Promise<Task> {
    const seconds = waitSecondsOf(request.get('prefer'));
    const task = await this.get(caller, id);
    if (seconds === undefined) return task;
    const applied = `wait=${seconds}`;
    if (isFinal(task.status)) {
      response.setHeader('Preference-Applied', applied);
      return task;
    }
    const hasWaited = await this.waits.untilEnded({
      taskId: task.id,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      waitMs: seconds * 1000,
      onGone: (listener) => response.once('close', listener),
    });
    if (!hasWaited) return task;
    response.setHeader('Preference-Applied', applied);
    return this.get(caller, id);
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
