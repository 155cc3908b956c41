import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../auth/caller.js';
import { OpenReads } from '../../auth/open-reads.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { Quota } from '../../platform/fairness/quota.js';
import { setSandboxHeader } from '../../platform/http-server/responses/gateway-headers.js';
import { SseWriter } from '../../platform/http-server/responses/sse-response.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import { type TaskStateView, viewTaskState } from '../task-event.view.js';
import { LongPoll } from './long-poll.js';
import { TasksService } from './tasks.service.js';

/** A stream ends after this time; its client comes again with `Last-Event-ID`. */
const EVENTS_DEADLINE_MS = 600_000;
/** Streams of one account at once in this process. */
export const MAX_EVENT_STREAMS_PER_ACCOUNT = 50;
/** Streams of all accounts at once in this process. */
const MAX_EVENT_STREAMS = 5_000;
const NO_CONTENT = 204;

/** Tells clients how their tasks go on, as server-sent events. */
@Injectable()
export class TaskEvents {
  /** Tests shorten it. */
  deadlineMs = EVENTS_DEADLINE_MS;
  private readonly logger = new Logger(TaskEvents.name);
  private readonly streams = new Quota({
    total: MAX_EVENT_STREAMS,
    perBucket: MAX_EVENT_STREAMS_PER_ACCOUNT,
    what: 'streams of task events at once',
  });

  constructor(
    private readonly reads: TasksService,
    private readonly longPoll: LongPoll,
    private readonly kinds: TaskKinds,
    private readonly openReads: OpenReads,
  ) {}

  /**
   * Sends the present state of a task, each change of it, and at its end the whole task. A client that names the end as the last event
   * it knows gets nothing (204). Ends within 2 s when the key or the session may read no more. Throws 404 `task_not_found`, 429 and 503 for too many streams.
   */
  async send(
    caller: Caller,
    id: string,
    lastEventId: string | undefined,
    response: Response,
  ): Promise<void> {
    const task = await this.reads.get(caller, id);
    if (this.hasEnded(task) && lastEventId === eventIdOf(this.stateOf(task))) {
      response.status(NO_CONTENT).end();
      return;
    }
    const refusal = this.streams.acquire(caller.accountId, 1);
    if (refusal) throw refusal;
    try {
      setSandboxHeader(response, task.onSandbox);
      await this.follow(caller, task, new SseWriter(response));
    } finally {
      this.streams.release(caller.accountId);
    }
  }

  private async follow(caller: Caller, task: Task, events: SseWriter): Promise<void> {
    const watch = this.longPoll.watch(task);
    const close = (): void => {
      watch.close();
    };
    const forget = this.openReads.watch(caller, 'call', close);
    const deadline = setTimeout(close, this.deadlineMs).unref();
    events.onGone(close);
    try {
      let known = await this.tell(task, undefined, events);
      let current = task;
      while (!this.hasEnded(current) && (await watch.change())) {
        current = await this.reads.get(caller, known.id);
        watch.knows(current);
        known = await this.tell(current, known, events);
      }
      await events.end();
    } catch (error) {
      if (!events.hasBegun) throw error;
      // The client cannot be told otherwise, and comes again.
      this.logger.warn(`events of ${toPublicId('task', task.id)} broke off: ${String(error)}`);
      events.cut();
    } finally {
      events.drop();
      clearTimeout(deadline);
      forget();
      close();
    }
  }

  /** Sends what the client does not know yet, and waits while it reads slowly. Returns what it knows then. */
  private async tell(
    task: Task,
    known: TaskStateView | undefined,
    events: SseWriter,
  ): Promise<TaskStateView> {
    const view = this.kinds.viewOf(task);
    const state = viewTaskState(task, view);
    const id = eventIdOf(state);
    if (this.hasEnded(task)) await events.send(JSON.stringify(view), 'end', id);
    else if (known === undefined || eventIdOf(known) !== id) {
      const name = known?.status === state.status ? 'progress' : 'status';
      await events.send(JSON.stringify(state), name, id);
    }
    return state;
  }

  private stateOf(task: Task): TaskStateView {
    return viewTaskState(task, this.kinds.viewOf(task));
  }

  private hasEnded(task: Task): boolean {
    return this.kinds.terminalStatusesFor(task).includes(task.status);
  }
}

/** The id of the event with this state of a task. */
function eventIdOf({ status, progress }: TaskStateView): string {
  return progress === null ? status : `${status}-${progress}`;
}
