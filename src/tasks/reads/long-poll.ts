import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { TaskStatus } from '../task.js';
import { FINAL_STATUSES } from '../task-state-machine.js';

/** The database is asked this often, once for all waiting readers of this process. */
const LOOK_MS = 500;
/** Readers of one key that wait at once; the next is answered at once (decision G-98). */
export const MAX_WAITS_PER_KEY = 20;

// Looked up one by one by primary key.
const ENDED = `
  SELECT a.id, t.status FROM unnest($1::uuid[], $2::uuid[]) a (account_id, id)
   CROSS JOIN LATERAL (SELECT status FROM task WHERE account_id = a.account_id AND id = a.id OFFSET 0) t
   WHERE t.status = ANY ($3)`;

interface Reader {
  readonly accountId: string;
  readonly ends: readonly TaskStatus[];
  readonly wake: () => void;
}

/** Who waits for a task's end, and for how long. */
export interface WaitRequest {
  readonly taskId: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  /** The states that are an end for the reader. */
  readonly ends: readonly TaskStatus[];
  readonly waitMs: number;
  /** Called back when the reader has gone. */
  readonly onGone: (listener: () => void) => void;
}

/**
 * Lets readers wait until their tasks have ended. A waiting reader has no database connection: one query asks for the tasks
 * of all readers of the process (decision G-98).
 */
@Injectable()
export class LongPoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly readers = new Map<string, Set<Reader>>();
  private readonly countByKey = new Map<string, number>();
  private isClosed = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    const tick = (): Promise<void> => this.tick();
    this.scheduler.start({ name: 'task-waits', intervalMs: LOOK_MS, tick, servesOwnCalls: true });
  }

  /** Waits for the task's end, at most `waitMs`; false at once where the key has too many readers waiting. */
  async untilEnded(request: WaitRequest): Promise<boolean> {
    const { taskId, accountId, apiKeyId, ends, waitMs, onGone } = request;
    const count = this.countByKey.get(apiKeyId) ?? 0;
    if (this.isClosed || count >= MAX_WAITS_PER_KEY) return false;
    this.countByKey.set(apiKeyId, count + 1);
    await new Promise<void>((resolve) => {
      const timeout = setTimeout(() => {
        reader.wake();
      }, waitMs).unref();
      const reader: Reader = {
        accountId,
        ends,
        wake: () => {
          clearTimeout(timeout);
          this.forget(taskId, reader);
          resolve();
        },
      };
      this.remember(taskId, reader);
      onGone(reader.wake);
    });
    this.release(apiKeyId);
    return true;
  }

  /** Wakes the readers of a task that has reached this state in this process, if it is an end for them. */
  ended(taskId: string, status: TaskStatus): void {
    for (const reader of [...(this.readers.get(taskId) ?? [])]) {
      if (reader.ends.includes(status)) reader.wake();
    }
  }

  /** For the drain: answers every waiting reader now, and later readers without a wait. */
  close(): void {
    this.isClosed = true;
    for (const readers of [...this.readers.values()]) {
      for (const reader of [...readers]) reader.wake();
    }
  }

  beforeApplicationShutdown(): void {
    this.close();
  }

  private remember(taskId: string, reader: Reader): void {
    const known = this.readers.get(taskId);
    if (known) known.add(reader);
    else this.readers.set(taskId, new Set([reader]));
  }

  private forget(taskId: string, reader: Reader): void {
    const known = this.readers.get(taskId);
    known?.delete(reader);
    if (known?.size === 0) this.readers.delete(taskId);
  }

  private release(apiKeyId: string): void {
    const left = (this.countByKey.get(apiKeyId) ?? 1) - 1;
    if (left === 0) this.countByKey.delete(apiKeyId);
    else this.countByKey.set(apiKeyId, left);
  }

  /** Wakes the readers whose tasks have ended in any process. Throws what the database throws. */
  private async tick(): Promise<void> {
    const asked = [...this.readers].flatMap(([id, [reader]]) =>
      reader ? [{ id, accountId: reader.accountId }] : [],
    );
    if (asked.length === 0) return;
    const rows = await this.dataSource.query<{ id: string; status: TaskStatus }[]>(ENDED, [
      asked.map(({ accountId }) => accountId),
      asked.map(({ id }) => id),
      FINAL_STATUSES,
    ]);
    for (const { id, status } of rows) this.ended(id, status);
  }
}
