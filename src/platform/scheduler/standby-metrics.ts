import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Metrics } from '../observability/metrics.js';
import { Scheduler } from './scheduler.js';

const INTERVAL_MS = 10_000;

interface StandbyRow {
  readonly standbys: number;
  /** Null where this role does not see it. */
  readonly synchronous: number | null;
  readonly is_awaited: boolean;
}

/**
 * Every role sees that somebody follows, and the setting; only members of `pg_read_all_stats` (or `pg_monitor`) see how. Then a copy
 * that is being made (`backup`) is no standby. The server bounds the rows (`max_wal_senders`).
 */
const STANDBYS = `
  SELECT count(*) FILTER (WHERE state IS NULL OR state IN ('streaming', 'catchup'))::int AS standbys,
         CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE')
              THEN count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))::int END AS synchronous,
         current_setting('synchronous_standby_names') <> '' AS is_awaited
    FROM pg_stat_get_wal_senders()`;

/**
 * Publishes how many standbys follow the database server, how many of them it waits for, and whether it is told to wait. It reads
 * on its own schedule, never at a scrape or a call, in the one process that publishes the figures of the database.
 */
@Injectable()
export class StandbyMetrics implements OnApplicationBootstrap {
  private row: StandbyRow | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
    private readonly scheduler: Scheduler,
  ) {
    this.publish(
      'gateway_database_standbys',
      'Standbys that follow the database server',
      (row) => row.standbys,
    );
    this.publish(
      'gateway_database_standbys_synchronous',
      'Standbys that a commit waits for; absent where the role of DATABASE_URL does not see it',
      (row) => row.synchronous,
    );
    this.publish(
      'gateway_database_standbys_awaited',
      '1 while synchronous_standby_names is set: a commit waits for a standby',
      (row) => Number(row.is_awaited),
    );
  }

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'standbys',
      intervalMs: INTERVAL_MS,
      tick: () => this.tick(),
    });
  }

  /** Reads the figures, if this process publishes them. While the database cannot be reached, the metrics are absent. */
  async tick(): Promise<void> {
    const reading = this.metrics.showsDatabase ? this.dataSource.query<StandbyRow[]>(STANDBYS) : [];
    try {
      [this.row] = await reading;
    } catch (error) {
      this.row = undefined;
      throw error;
    }
  }

  private publish(name: string, help: string, read: (row: StandbyRow) => number | null): void {
    this.metrics.watchDatabase(name, help, () =>
      Promise.resolve(this.row && (read(this.row) ?? undefined)),
    );
  }
}
