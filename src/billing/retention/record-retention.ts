import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';

const INTERVAL_MS = 600_000;
/** Records one statement looks at: their accounts are locked meanwhile. */
const BATCH = 500;
/**
 * Forgets which calls a rotated key carried over to its successor, a day after they ended: until then a charged call may
 * still be reported as failed. Rows are looked up one by one, so that no plan reads all calls.
 */
const FORGET_CARRIED = `
  DELETE FROM key_spend_carried WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM key_spend_carried c
     WHERE NOT EXISTS (
             SELECT FROM execution e WHERE e.account_id = c.account_id AND e.id = c.id
                AND (e.status = 'running' OR e.completed_at > now() - interval '1 day') OFFSET 0)
       AND NOT EXISTS (
             SELECT FROM task t WHERE t.account_id = c.account_id AND t.id = c.id
                AND (t.status IN ('queued', 'processing', 'reconciliation_required')
                     OR t.completed_at > now() - interval '1 day') OFFSET 0)
     LIMIT $1))`;
/** Paid steps of songs are used for a day. */
const FORGET_SONG_STEPS = `
  DELETE FROM kept_song_step WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM kept_song_step WHERE created_at < now() - interval '1 day' LIMIT $1))`;
/** The most of each that one tick deletes. */
const MAX_FORGOTTEN = 10_000;
/** Each looks at a batch of old records and drops those that are proven. */
const DROP_STATEMENTS = {
  executions: 'SELECT * FROM record_drop_calls($1, $2)',
  tasks: 'SELECT * FROM record_drop_tasks($1, $2)',
} as const;
/** Statements of one tick; the next one goes on from there. */
const MAX_BATCHES = 2_000;
/** After a full batch comes a pause of so many times its length: three quarters of the database's time are left to calls. */
const PAUSE_PER_BATCH = 3;
const MAX_PAUSE_MS = 1_000;

interface BatchRow {
  readonly seen: number;
  readonly dropped: number;
}

/**
 * Drops execution records and tasks that ended more than `RECORD_RETENTION_DAYS` ago, once an audit has proven them and
 * usage has their sums; ledger entries stay (docs/adr/0016). Without that setting no record is dropped.
 */
@Injectable()
export class RecordRetention implements OnApplicationBootstrap {
  readonly #logger = new Logger(RecordRetention.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'recordRetentionDays'>,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'retention',
      intervalMs: INTERVAL_MS,
      tick: (stopping) => this.tick(this.config.recordRetentionDays, stopping),
    });
  }

  /**
   * Forgets which calls a rotated key carried over, a day after they ended, and paid steps of songs after a day. Looks once at every record older than
   * `days`, in bounded batches with pauses between them; returns how many were dropped. No batch begins once it is
   * `stopping`.
   */
  async tick(days: number | undefined, stopping?: AbortSignal): Promise<number> {
    await this.dataSource.query(FORGET_CARRIED, [MAX_FORGOTTEN]);
    await this.dataSource.query(FORGET_SONG_STEPS, [MAX_FORGOTTEN]);
    if (days === undefined) return 0;
    const calls = await this.drop('executions', days, stopping);
    const dropped = calls + (await this.drop('tasks', days, stopping));
    if (dropped > 0) this.#logger.log(`${dropped} records older than ${days} days are dropped`);
    return dropped;
  }

  private async drop(
    what: keyof typeof DROP_STATEMENTS,
    days: number,
    stopping?: AbortSignal,
  ): Promise<number> {
    let sum = 0;
    for (let batch = 0; batch < MAX_BATCHES && stopping?.aborted !== true; batch += 1) {
      const startedMs = performance.now();
      const [row] = await this.dataSource.query<BatchRow[]>(DROP_STATEMENTS[what], [days, BATCH]);
      sum += row?.dropped ?? 0;
      if ((row?.seen ?? 0) < BATCH) break;
      await pauseAfter(performance.now() - startedMs, stopping);
    }
    return sum;
  }
}

/** Deleting shares the disk and the processors of the database with calls. Ends early when it is stopping. */
async function pauseAfter(batchMs: number, stopping?: AbortSignal): Promise<void> {
  const pauseMs = Math.min(PAUSE_PER_BATCH * batchMs, MAX_PAUSE_MS);
  await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
}
