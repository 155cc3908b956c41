import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics } from '../../platform/observability/metrics.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { ProcessLease } from '../recovery/process-lease.js';
import { HOLD_SWEEPER_OPTIONS, type HoldSweeperOptions } from './hold-sweeper.js';

interface LedgerStateRow {
  readonly is_first: boolean;
  readonly open_calls: number;
  readonly open_tasks: number;
  readonly oldest_age_seconds: number;
  readonly audit_ok: boolean | null;
  readonly audit_age_seconds: number | null;
}

/** Most open tasks that are counted, so that the cost of the query is bounded. */
const MAX_COUNTED_TASKS = 10_000;

const LEDGER_STATE = `
  SELECT coalesce((SELECT min(id::text) FROM gateway_process WHERE lease_until > now()) = $1, false) AS is_first,
         l.open_calls,
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
 * of rows on its own schedule, never at a scrape. Only the running process with the lowest id publishes.
 */
@Injectable()
export class LedgerMetrics implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
    private readonly process: ProcessLease,
    private readonly scheduler: Scheduler,
    @Inject(HOLD_SWEEPER_OPTIONS) private readonly options: HoldSweeperOptions,
  ) {}

  onApplicationBootstrap(): void {
    const { intervalMs } = this.options;
    this.scheduler.start({ name: 'books', intervalMs, tick: () => this.tick() });
  }

  /** Updates the metrics. While the database cannot be reached, they are absent. */
  async tick(): Promise<void> {
    try {
      const [row] = await this.dataSource.query<LedgerStateRow[]>(LEDGER_STATE, [this.process.id]);
      this.metrics.showBooks(
        row?.is_first === true
          ? {
              openHolds: row.open_calls + row.open_tasks,
              oldestHoldAgeSeconds: row.oldest_age_seconds,
              isAuditOk: row.audit_ok,
              auditAgeSeconds: row.audit_age_seconds,
            }
          : undefined,
      );
    } catch (error) {
      this.metrics.showBooks(undefined);
      throw error;
    }
  }
}
