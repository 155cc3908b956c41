import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';

/** How long usage is kept by hour, in whole days before today. */
export const HOURS_KEPT_DAYS = 14;
/** How long an unused run is kept, in days: as `run_drop` has it. */
const RUNS_KEPT_DAYS = 30;

const INTERVAL_MS = 600_000;
/** Records checked by one statement. Their accounts are locked meanwhile. */
const BATCH = 500;
/** Rows of each table of usage by hour that one statement deletes. They lock no account. */
const HOURS_BATCH = 5_000;
/**
 * Deletes the list of calls that a rotated key passed to its successor, a day after they ended: until then a charged call
 * may still be reversed. Rows are looked up one by one, so that no plan reads all calls.
 */
const FORGET_CARRIED = `
  WITH ended AS MATERIALIZED (
    SELECT c.account_id, c.id, c.api_key_id FROM key_spend_carried c
     WHERE NOT EXISTS (
             SELECT FROM execution e WHERE e.account_id = c.account_id AND e.id = c.id
                AND (e.status = 'running' OR e.completed_at > now() - interval '1 day') OFFSET 0)
       AND NOT EXISTS (
             SELECT FROM task t WHERE t.account_id = c.account_id AND t.id = c.id
                AND (t.status IN ('queued', 'processing', 'reconciliation_required')
                     OR t.completed_at > now() - interval '1 day') OFFSET 0)
     LIMIT $1)
  DELETE FROM key_spend_carried c USING ended e
   WHERE c.account_id = e.account_id AND c.id = e.id AND c.api_key_id = e.api_key_id`;
/** Stored intermediate steps of songs are reused for one day. */
const FORGET_SONG_STEPS = `
  WITH old AS MATERIALIZED (
    SELECT account_id, upstream, digest FROM kept_song_step WHERE created_at < now() - interval '1 day' LIMIT $1)
  DELETE FROM kept_song_step k USING old o
   WHERE k.account_id = o.account_id AND k.upstream = o.upstream AND k.digest = o.digest
     AND k.created_at < now() - interval '1 day'`;
/** Deliveries of events are over when none of their attempts is due. Those of tasks go with their tasks. */
const DROP_EVENTS = `
  WITH old AS MATERIALIZED (
    SELECT account_id, id FROM webhook_delivery
     WHERE event IS NOT NULL AND status <> 'pending' AND created_at < now() - $1 * interval '1 day' LIMIT $2
  ), gone AS (
    DELETE FROM webhook_delivery d USING old o
     WHERE d.account_id = o.account_id AND d.id = o.id AND d.status <> 'pending'
    RETURNING d.account_id, d.id
  ), attempts AS (
    DELETE FROM webhook_attempt a USING gone g WHERE a.account_id = g.account_id AND a.delivery_id = g.id
  )
  SELECT count(*)::int AS seen, count(*)::int AS dropped FROM gone`;
/** `rest` is the key of the table without its beginning. */
const dropOldHours = (table: string, rest: string) => `
  DELETE FROM ${table} WHERE (account_id, hour, api_key_id, model, endpoint, ${rest}) IN (
    SELECT account_id, hour, api_key_id, model, endpoint, ${rest} FROM ${table}
     WHERE hour < (SELECT since FROM kept) LIMIT $2) RETURNING 1`;
/** Usage by hour, of whole days. `hours_from` says which hours are there. */
const DROP_HOURS = `
  WITH kept AS MATERIALIZED (
    SELECT (date_trunc('day', now() AT TIME ZONE 'UTC') - $1 * interval '1 day') AT TIME ZONE 'UTC' AS since
  ), noted AS (
    UPDATE usage_state SET hours_from = since FROM kept WHERE hours_from < since
  ), sums AS (${dropOldHours('usage_hour', 'provider, upstream_model')}
  ), latencies AS (${dropOldHours('usage_hour_latency', 'bucket, provider, upstream_model')}
  ), refunds AS (${dropOldHours('usage_hour_refund', 'reason, provider, upstream_model')}
  )
  SELECT greatest((SELECT count(*) FROM sums), (SELECT count(*) FROM latencies),
                  (SELECT count(*) FROM refunds))::int AS seen, (SELECT count(*) FROM sums)::int AS dropped`;
/** Most rows of each that one tick deletes. */
const MAX_FORGOTTEN = 10_000;
/** Each drops a batch of what is older than so many days: of records those that an audit has checked. */
const DROP_STATEMENTS = {
  hours: DROP_HOURS,
  /** Those that hold nothing and had no call in that time. */
  runs: 'SELECT n AS seen, n AS dropped FROM run_drop($2) n WHERE $1 = 30',
  events: DROP_EVENTS,
  executions: 'SELECT * FROM record_drop_calls($1, $2)',
  tasks: 'SELECT * FROM record_drop_tasks($1, $2)',
} as const;
/** Most statements of one tick. The next tick continues from there. */
const MAX_BATCHES = 2_000;
/** Pause after a full batch, as a multiple of its duration: leaves three quarters of the database's time to calls. */
const PAUSE_PER_BATCH = 3;
const MAX_PAUSE_MS = 1_000;

interface BatchRow {
  readonly seen: number;
  readonly dropped: number;
}

/**
 * Drops execution records and tasks that ended more than `RECORD_RETENTION_DAYS` ago, once an audit has checked them and
 * usage includes them. Ledger entries stay (docs/architecture/adr/0016). Without that setting no record is dropped.
 */
@Injectable()
export class RecordRetention implements OnApplicationBootstrap {
  private readonly logger = new Logger(RecordRetention.name);

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
   * Deletes old rows of rotated keys, song steps, runs and hours of usage. Then drops deliveries of events older than `days`, and checks every
   * record as old once, in bounded batches with pauses between them. Returns how many of all were dropped. No batch begins after
   * `stopping` aborts.
   */
  async tick(days: number | undefined, stopping?: AbortSignal): Promise<number> {
    await this.dataSource.query(FORGET_CARRIED, [MAX_FORGOTTEN]);
    await this.dataSource.query(FORGET_SONG_STEPS, [MAX_FORGOTTEN]);
    await this.drop('runs', RUNS_KEPT_DAYS, stopping);
    await this.drop('hours', HOURS_KEPT_DAYS, stopping);
    if (days === undefined) return 0;
    let dropped = 0;
    for (const what of ['events', 'executions', 'tasks'] as const) {
      const count = await this.drop(what, days, stopping);
      if (count > 0) this.logger.log(`dropped ${count} ${what} older than ${days} days`);
      dropped += count;
    }
    return dropped;
  }

  private async drop(
    what: keyof typeof DROP_STATEMENTS,
    days: number,
    stopping?: AbortSignal,
  ): Promise<number> {
    const batch = what === 'hours' ? HOURS_BATCH : BATCH;
    let sum = 0;
    for (let count = 0; count < MAX_BATCHES && stopping?.aborted !== true; count += 1) {
      const startedMs = performance.now();
      const [row] = await this.dataSource.query<BatchRow[]>(DROP_STATEMENTS[what], [days, batch]);
      sum += row?.dropped ?? 0;
      if ((row?.seen ?? 0) < batch) break;
      await pauseAfter(performance.now() - startedMs, stopping);
    }
    return sum;
  }
}

/** Pauses, because deleting competes with calls for the database's disk and CPU. Ends early when `stopping` aborts. */
async function pauseAfter(batchMs: number, stopping?: AbortSignal): Promise<void> {
  const pauseMs = Math.min(PAUSE_PER_BATCH * batchMs, MAX_PAUSE_MS);
  await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
}
