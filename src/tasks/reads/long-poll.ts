import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Quota } from '../../platform/fairness/quota.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { TaskStatus } from '../task.js';
import { FINAL_STATUSES } from '../task-state-machine.js';
import { TaskWatch, type WatchedState } from './task-watch.js';

/** Interval of the query that covers all waiting clients of this process. */
const POLL_INTERVAL_MS = 500;
/** Most concurrent waits of one key. Further requests get their response at once (decision G-98). */
export const MAX_WAITS_PER_KEY = 20;

// OFFSET 0 makes the planner look up each task by primary key.
const ENDED = `
  SELECT a.id, t.status FROM unnest($1::uuid[], $2::uuid[]) a (account_id, id)
   CROSS JOIN LATERAL (SELECT status FROM task WHERE account_id = a.account_id AND id = a.id OFFSET 0) t
   WHERE t.status = ANY ($3)`;

const STATES = `
  SELECT a.id, t.status, t.progress FROM unnest($1::uuid[], $2::uuid[]) a (account_id, id)
   CROSS JOIN LATERAL (SELECT status, progress FROM task WHERE account_id = a.account_id AND id = a.id OFFSET 0) t`;

interface WaitingClient {
  readonly accountId: string;
  readonly ends: readonly TaskStatus[];
  readonly wake: () => void;
}

/** A client's request to wait for the end of a task. */
export interface WaitRequest {
  readonly taskId: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  /** The statuses that end the wait. */
  readonly ends: readonly TaskStatus[];
  readonly waitMs: number;
  /** Registers a listener for the client's disconnect. */
  readonly onDisconnect: (listener: () => void) => void;
}

/**
 * Lets clients wait until their tasks have ended, and watch how they change. A client needs no database connection: one query reads
 * the tasks of all that wait in this process, and one those of all that watch (decision G-98).
 */
@Injectable()
export class LongPoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly clients = new Map<string, Set<WaitingClient>>();
  private readonly watches = new Set<TaskWatch>();
  private readonly waitsOfKeys = new Quota({ perBucket: MAX_WAITS_PER_KEY });
  private isClosed = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    const tick = (): Promise<void> => this.tick();
    this.scheduler.start({
      name: 'task-waits',
      intervalMs: POLL_INTERVAL_MS,
      tick,
      servesOwnCalls: true,
    });
  }

  /** Waits for the task's end, at most `waitMs`. Returns false at once if the key has too many waits. */
  async untilEnded(request: WaitRequest): Promise<boolean> {
    const { taskId, accountId, apiKeyId, ends, waitMs, onDisconnect } = request;
    if (this.isClosed || !this.waitsOfKeys.tryAcquire(apiKeyId)) return false;
    await new Promise<void>((resolve) => {
      const timeout = setTimeout(() => {
        client.wake();
      }, waitMs).unref();
      const client: WaitingClient = {
        accountId,
        ends,
        wake: () => {
          clearTimeout(timeout);
          this.forget(taskId, client);
          resolve();
        },
      };
      this.remember(taskId, client);
      onDisconnect(client.wake);
    });
    this.waitsOfKeys.release(apiKeyId);
    return true;
  }

  /** Watches a task that is in this state; whoever does so closes the watch. After {@link close} it is closed. */
  watch(task: { readonly id: string; readonly accountId: string } & WatchedState): TaskWatch {
    const watch = new TaskWatch(task, () => this.watches.delete(watch));
    if (this.isClosed) watch.close();
    else this.watches.add(watch);
    return watch;
  }

  /** Wakes the clients of a task that reached this status in this process, if it is in their `ends`. */
  ended(taskId: string, status: TaskStatus): void {
    for (const client of [...(this.clients.get(taskId) ?? [])]) {
      if (client.ends.includes(status)) client.wake();
    }
    for (const watch of this.watches) if (watch.taskId === taskId) watch.wake();
  }

  /** For shutdown: ends all waits now, and refuses later ones. */
  close(): void {
    this.isClosed = true;
    for (const clients of [...this.clients.values()]) {
      for (const client of [...clients]) client.wake();
    }
    for (const watch of [...this.watches]) watch.close();
  }

  beforeApplicationShutdown(): void {
    this.close();
  }

  private remember(taskId: string, client: WaitingClient): void {
    const known = this.clients.get(taskId);
    if (known) known.add(client);
    else this.clients.set(taskId, new Set([client]));
  }

  private forget(taskId: string, client: WaitingClient): void {
    const known = this.clients.get(taskId);
    known?.delete(client);
    if (known?.size === 0) this.clients.delete(taskId);
  }

  /** Wakes the clients whose tasks have ended or changed in any process. Throws the database's error. */
  private async tick(): Promise<void> {
    await this.lookAtWatched();
    await this.lookAtAwaited();
  }

  private async lookAtWatched(): Promise<void> {
    const accounts = new Map([...this.watches].map((watch) => [watch.taskId, watch.accountId]));
    if (accounts.size === 0) return;
    const rows = await this.dataSource.query<({ id: string } & WatchedState)[]>(STATES, [
      [...accounts.values()],
      [...accounts.keys()],
    ]);
    const states = new Map(rows.map((row) => [row.id, row]));
    for (const watch of this.watches) watch.compare(states.get(watch.taskId));
  }

  private async lookAtAwaited(): Promise<void> {
    const waiting = [...this.clients].flatMap(([id, [client]]) =>
      client ? [{ id, accountId: client.accountId }] : [],
    );
    if (waiting.length === 0) return;
    const rows = await this.dataSource.query<{ id: string; status: TaskStatus }[]>(ENDED, [
      waiting.map(({ accountId }) => accountId),
      waiting.map(({ id }) => id),
      FINAL_STATUSES,
    ]);
    for (const { id, status } of rows) this.ended(id, status);
  }
}
