import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics } from '../../platform/observability/metrics.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { HOLD_SWEEPER_OPTIONS, type HoldSweeperOptions } from './hold-sweeper.js';

interface LedgerStateRow {
  readonly open_calls: number;
  readonly open_tasks: number;
  readonly oldest_age_seconds: number;
  readonly audit_ok: boolean | null;
  readonly audit_age_seconds: number | null;
}

/** Most open tasks that are counted, so that the cost of the query is bounded. */
const MAX_COUNTED_TASKS = 10_000;

const LEDGER_STATE = `
  SELECT l.open_calls,
         greatest(0, coalesce(extract(epoch FROM now() - l.oldest_open_at), 0))::float8 AS oldest_age_seconds,
         (SELECT count(*)::int FROM (
           SELECT FROM task WHERE status IN ('queued', 'processing', 'reconciliation_required') LIMIT ${MAX_COUNTED_TASKS}
         ) open) AS open_tasks,
         (SELECT ok FROM audit_state) AS audit_ok,
         (SELECT extract(epoch FROM now() - finished_at)::float8 FROM audit_state) AS audit_age_seconds
    FROM call_look l`;

/**
 * Publishes the number of open holds of calls and tasks, the age of the oldest call, and the result of the last audit. The
 * number of calls is that of the rows that the last sweep found running, not a sum over processes. It reads a bounded number
 * of rows on its own schedule, never at a scrape. Only the process that publishes the figures of the database reads them.
 */
@Injectable()
export class LedgerMetrics implements OnApplicationBootstrap {
  private row: LedgerStateRow | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
    private readonly scheduler: Scheduler,
    @Inject(HOLD_SWEEPER_OPTIONS) private readonly options: HoldSweeperOptions,
  ) {
    this.publish(
      'gateway_holds_open',
      `Open holds of calls and tasks; ${MAX_COUNTED_TASKS} tasks are counted at most`,
      (row) => row.open_calls + row.open_tasks,
    );
    this.publish(
      'gateway_holds_oldest_age_seconds',
      'Age of the oldest open hold of a call',
      (row) => row.oldest_age_seconds,
    );
    this.publish('gateway_audit_ok', '1 while the last audit found nothing', (row) =>
      row.audit_ok === null ? null : Number(row.audit_ok),
    );
    this.publish(
      'gateway_audit_age_seconds',
      'Time since the last audit of the books',
      (row) => row.audit_age_seconds,
    );
  }

  onApplicationBootstrap(): void {
    const { intervalMs } = this.options;
    this.scheduler.start({ name: 'books', intervalMs, tick: () => this.tick() });
  }

  /** Reads the figures, if this process publishes them. While the database cannot be reached, the metrics are absent. */
  async tick(): Promise<void> {
    const reading = this.metrics.showsDatabase
      ? this.dataSource.query<LedgerStateRow[]>(LEDGER_STATE)
      : [];
    try {
      [this.row] = await reading;
    } catch (error) {
      this.row = undefined;
      throw error;
    }
  }

  /** A figure is null before the first audit. */
  private publish(name: string, help: string, read: (row: LedgerStateRow) => number | null): void {
    this.metrics.watchDatabase(name, help, () =>
      Promise.resolve(this.row && (read(this.row) ?? undefined)),
    );
  }
}
