import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { toPublicId } from '../../common/ids/public-id.js';
import type { JsonObject } from '../../common/json-object.js';
import { CancelRequests } from '../../tasks/completion/cancel-requests.js';
import { TaskCancellation } from '../../tasks/completion/task-cancellation.js';
import { LongPoll } from '../../tasks/reads/long-poll.js';
import { TaskRepository } from '../../tasks/reads/task.repository.js';
import type { Task } from '../../tasks/task.js';
import { FINAL_STATUSES } from '../../tasks/task-state-machine.js';
import { fromResponseId, toResponseId } from '../../stored-responses/response-ids.js';
import type { InputItemsQuery } from '../dto/response.queries.js';
import {
  type ItemPage,
  pageOfItems,
  placesOf,
  ResponseReads,
  shown,
  unknownResponse,
} from '../response-reads.js';
import { RESPONSE_KIND } from './background-input.js';
import { BackgroundObjects } from './background-objects.js';

/** How long a request to cancel waits for the end of the work. */
const CANCEL_WAIT_MS = 5_000;

/** Reads responses that have not ended, and cancels them. Those that have ended are stored as all others are. */
@Injectable()
export class BackgroundReads {
  constructor(
    private readonly tasks: TaskRepository,
    private readonly objects: BackgroundObjects,
    private readonly stored: ResponseReads,
    private readonly cancellation: TaskCancellation,
    private readonly requests: CancelRequests,
    private readonly ends: LongPoll,
  ) {}

  /** A response by its public id: as it is stored, or as far as it is. Throws 404 `not_found`. */
  async response(accountId: string, id: string): Promise<JsonObject> {
    const stored = await this.stored.found(accountId, id);
    if (stored) return this.stored.whole(accountId, stored);
    const task = await this.taskOf(accountId, id);
    return task ? this.now(task) : Promise.reject(unknownResponse());
  }

  /** The response of a task as it is now. Throws 404 `not_found` for one that is not stored any more. */
  async now(task: Task): Promise<JsonObject> {
    const input = await this.objects.readableInputOf(task);
    // Without its input it has ended meanwhile, or was erased.
    return input
      ? this.objects.open(task, input.body)
      : this.stored.response(task.accountId, toResponseId(task.id));
  }

  /** A page of the items before the answer, as `ResponseReads.inputItems`. */
  async inputItems(accountId: string, id: string, query: InputItemsQuery): Promise<ItemPage> {
    const isStored = (await this.stored.found(accountId, id)) !== undefined;
    const task = isStored ? undefined : await this.taskOf(accountId, id);
    const input = task && (await this.objects.readableInputOf(task));
    if (!input) return this.stored.inputItems(accountId, id, query);
    const byId = new Map(input.items.map(({ id: itemId, item }) => [itemId, item]));
    const { ids, hasMore } = placesOf(
      input.items.map((item) => item.id),
      query,
    );
    const items = ids.map((itemId) => byId.get(itemId)).filter((item) => item !== undefined);
    return pageOfItems(items.map(shown), hasMore);
  }

  /** Throws 409 `conflict` for a response that has not ended. One that was erased is unknown, as it is to readers. */
  async refuseOpen(accountId: string, id: string): Promise<void> {
    const task = await this.taskOf(accountId, id);
    const input = task && (await this.objects.readableInputOf(task));
    if (!input) return;
    throw new GatewayError('conflict', 'The response is still being made: cancel it first.', {
      param: 'id',
    });
  }

  /**
   * Cancels a response and returns it, once its end is known or after {@link CANCEL_WAIT_MS}. What was made is charged as that of
   * a stream whose client leaves (decision G-24). One that has ended is answered as it is. Throws 404 `not_found`, and 400 for a
   * response that is not made in the background.
   */
  async cancel(caller: Caller, id: string, response: Response): Promise<JsonObject> {
    const { accountId, apiKeyId } = caller;
    const stored = await this.stored.found(accountId, id);
    if (stored) {
      if (stored.response.background !== true) throw notInBackground();
      return this.stored.whole(accountId, stored);
    }
    const task = await this.taskOf(accountId, id);
    if (!task) throw unknownResponse();
    if (isOpen(task) && !(await this.cancelledUnsent(caller, task))) {
      await this.requests.ask(task);
      await this.ends.untilEnded({
        taskId: task.id,
        accountId,
        apiKeyId,
        ends: FINAL_STATUSES,
        waitMs: CANCEL_WAIT_MS,
        onDisconnect: (listener) => response.once('close', listener),
      });
    }
    return this.response(accountId, id);
  }

  /** Whether the task was cancelled before it was sent. */
  private async cancelledUnsent(caller: Caller, task: Task): Promise<boolean> {
    try {
      await this.cancellation.cancel(caller, toPublicId('task', task.id));
      return true;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'task_not_cancellable') return false;
      throw error;
    }
  }

  private async taskOf(accountId: string, id: string): Promise<Task | undefined> {
    const uuid = fromResponseId(id);
    const task = uuid === undefined ? undefined : await this.tasks.find(uuid, accountId);
    return task?.kind === RESPONSE_KIND ? task : undefined;
  }
}

const isOpen = ({ completedAt }: Task): boolean => completedAt === null;

function notInBackground(): GatewayError {
  const message = 'Only a response with background: true can be cancelled.';
  return new GatewayError('invalid_request', message, { param: 'id' });
}
