import { randomUUID } from 'node:crypto';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics } from '../observability/metrics.js';
import { Scheduler } from './scheduler.js';

const TERM_MS = 15_000;
const RENEW_MS = 5_000;
const JOB = 'figures-leader';

/**
 * Takes or renews the term; no row if another process has it. It waits for no standby: where none follows and every commit hangs, the
 * figures have to tell it. A fail-over may undo it; then two processes lead until the lost term ends.
 */
const CLAIM = `
  WITH local AS MATERIALIZED (SELECT set_config('synchronous_commit', 'local', true))
  INSERT INTO figures_leader AS f (process_id, until)
    SELECT $1, now() + interval '${TERM_MS} milliseconds' FROM local
  ON CONFLICT (is_only) DO UPDATE SET process_id = excluded.process_id, until = excluded.until
   WHERE f.process_id = excluded.process_id OR f.until < now()
  RETURNING process_id`;
const RESIGN = 'UPDATE figures_leader SET until = now() WHERE process_id = $1 AND until > now()';

/**
 * Elects the one process that publishes the figures of the whole database, so that their sum over all processes is true. Only
 * processes with workers stand for election. A process that drains resigns; one that died is replaced within 20 s. No two lead at
 * once, but after a fail-over: the term that a process knows ends before that in the database.
 */
@Injectable()
export class FiguresLeader implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly id = randomUUID();
  private untilMs = -Infinity;
  private stopping: AbortSignal | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
    metrics: Metrics,
  ) {
    metrics.publishDatabaseWhile(() => this.isLeader);
  }

  /** Whether this process publishes the figures of the database now. */
  get isLeader(): boolean {
    return this.stopping?.aborted !== true && performance.now() < this.untilMs;
  }

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: JOB,
      intervalMs: RENEW_MS,
      tick: (stopping) => this.stand(stopping),
    });
    this.scheduler.runSoon(JOB, 0);
  }

  /** Takes the term if it is free, or renews it. Throws the database's error; the term then ends by itself. */
  async stand(stopping?: AbortSignal): Promise<void> {
    this.stopping = stopping;
    const askedMs = performance.now();
    const rows = await this.dataSource.query<unknown[]>(CLAIM, [this.id]);
    this.untilMs = rows.length > 0 ? askedMs + TERM_MS : -Infinity;
  }

  /** Lets another process lead at once. If the database does not answer, the term ends by itself. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.untilMs === -Infinity) return;
    this.untilMs = -Infinity;
    await this.dataSource.query(RESIGN, [this.id]).catch(() => undefined);
  }
}
