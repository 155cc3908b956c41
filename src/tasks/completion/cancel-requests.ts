import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Task } from '../task.js';

/** Interval of the query that looks for requests to cancel what this process runs. */
const LOOK_INTERVAL_MS = 1_000;

const ASK = `
  UPDATE task SET cancel_asked_at = coalesce(cancel_asked_at, now())
   WHERE account_id = $1 AND id = $2 AND status IN ('queued', 'processing')`;
// OFFSET 0 makes the planner look up each task by primary key.
const ASKED = `
  SELECT a.id FROM unnest($1::uuid[], $2::uuid[]) a (account_id, id)
   CROSS JOIN LATERAL (SELECT cancel_asked_at FROM task WHERE account_id = a.account_id AND id = a.id OFFSET 0) t
   WHERE t.cancel_asked_at IS NOT NULL`;

type TaskName = Pick<Task, 'accountId' | 'id'>;

/** A run of this process, which ends when its holder asks to cancel it. */
export interface WatchedRun extends Disposable {
  /** Aborts within about {@link LOOK_INTERVAL_MS} of the request, whichever process got it. */
  readonly signal: AbortSignal;
}

/** Requests to cancel tasks that a process of the gateway runs itself (`runsHere`). */
@Injectable()
export class CancelRequests implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Tasks');
  private readonly runs = new Map<string, { accountId: string; stop: AbortController }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Asks whoever runs the task to cancel it. Does nothing after its end. */
  async ask({ accountId, id }: TaskName): Promise<void> {
    await this.dataSource.query(ASK, [accountId, id]);
  }

  /** Watches for requests until the run is disposed. One query reads those of all runs of this process. */
  watch({ accountId, id }: TaskName): WatchedRun {
    const stop = new AbortController();
    const run = { accountId, stop };
    this.runs.set(id, run);
    this.timer ??= this.lookSoon();
    return {
      signal: stop.signal,
      [Symbol.dispose]: () => {
        if (this.runs.get(id) === run) this.runs.delete(id);
      },
    };
  }

  beforeApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  private lookSoon(): NodeJS.Timeout {
    return setTimeout(() => {
      void this.look().finally(() => {
        this.timer = this.runs.size > 0 ? this.lookSoon() : undefined;
      });
    }, LOOK_INTERVAL_MS).unref();
  }

  private async look(): Promise<void> {
    const runs = [...this.runs];
    if (runs.length === 0) return;
    try {
      const rows = await this.dataSource.query<{ id: string }[]>(ASKED, [
        runs.map(([, { accountId }]) => accountId),
        runs.map(([id]) => id),
      ]);
      for (const { id } of rows) this.runs.get(id)?.stop.abort();
    } catch (error) {
      this.logger.error(`cannot look for tasks to cancel: ${String(error)}`);
    }
  }
}
