import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { isTransient } from '../../platform/database/database-errors.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { Committed } from './committed-work.js';
import { DatabasePosition, POSITION, type PositionRow } from './database-position.js';
import { ProcessLease, LEASE_OPTIONS, type LeaseOptions } from './process-lease.js';

/** An open call that this process does not know is released if it is still unknown after this time. */
const RECHECK_MS = 60_000;
/** Calls released by one statement. */
const MAX_RELEASED = 1_000;
/** Ids of lost work in one line of the log. */
const MAX_IDS_LOGGED = 100;

const OWN = `SELECT id FROM open_call WHERE process_id = $1`;

const MISSING = `
  SELECT w.kind, w.account_id AS "accountId", w.id
    FROM unnest($1::text[], $2::uuid[], $3::uuid[]) w (kind, account_id, id)
   WHERE CASE w.kind
     WHEN 'call' THEN NOT EXISTS (
       SELECT FROM execution e WHERE e.account_id = w.account_id AND e.id = w.id AND e.status = 'succeeded')
     ELSE NOT EXISTS (SELECT FROM task t WHERE t.account_id = w.account_id AND t.id = w.id) END`;

/**
 * Finds work that the database lost, because a standby without the last seconds took over or a backup was restored
 * (decision G-111). Calls that are running again in the database, but unknown to their process in two checks a minute apart,
 * are released. Lost calls and tasks that were confirmed to callers are counted and logged.
 */
@Injectable()
export class LostWork implements OnApplicationBootstrap {
  private readonly logger = new Logger(LostWork.name);
  private readonly position = new DatabasePosition();
  /** Open calls in the database that this process does not know, and since when. */
  private readonly unknownSinceMs = new Map<string, number>();
  private canReadPosition = true;

  constructor(
    private readonly dataSource: DataSource,
    private readonly process: ProcessLease,
    private readonly metrics: Metrics,
    private readonly scheduler: Scheduler,
    private readonly clock: Clock,
    @Inject(LEASE_OPTIONS) private readonly options: Pick<LeaseOptions, 'sweepMs'>,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'lost-work',
      intervalMs: this.options.sweepMs,
      tick: () => this.tick(),
      servesOwnCalls: true,
    });
  }

  /** Checks once. Returns how many calls were released. */
  async tick(): Promise<number> {
    await this.findLost();
    return this.releaseUnknown();
  }

  private report(lost: readonly Committed[]): void {
    if (lost.length === 0) return;
    this.metrics.callsLost.inc(lost.length);
    const ids = lost.slice(0, MAX_IDS_LOGGED).map(({ kind, id }) => `${kind} ${id}`);
    this.logger.error(
      { lost: ids },
      `the database has lost ${lost.length} calls and tasks that were confirmed to their callers`,
    );
  }

  /** If the log went back or another server took over, compares the remembered work with the database. */
  private async findLost(): Promise<void> {
    const change = this.position.changeTo(await this.currentPosition());
    if (change === undefined) return;
    this.logger.error(`${change}: work that it confirmed before may be lost`);
    const known = this.process.committed.recent;
    const lost = await this.dataSource
      .query<Committed[]>(MISSING, [
        known.map(({ kind }) => kind),
        known.map(({ accountId }) => accountId),
        known.map(({ id }) => id),
      ])
      .catch((error: unknown) => {
        this.position.repeat();
        throw error;
      });
    this.report(lost);
    this.process.committed.forget(lost);
  }

  private async currentPosition(): Promise<PositionRow | undefined> {
    if (!this.canReadPosition) return undefined;
    try {
      const [row] = await this.dataSource.query<PositionRow[]>(POSITION);
      return row;
    } catch (error) {
      if (isTransient(error)) throw error;
      this.canReadPosition = false;
      this.logger.warn(`cannot read the database's log position: ${String(error)}`);
      return undefined;
    }
  }

  private async releaseUnknown(): Promise<number> {
    const open = await this.dataSource.query<{ id: string }[]>(OWN, [this.process.id]);
    const unknown = new Set(open.map(({ id }) => id).filter((id) => !this.process.knows(id)));
    for (const id of this.unknownSinceMs.keys()) {
      if (!unknown.has(id)) this.unknownSinceMs.delete(id);
    }
    const nowMs = this.clock.nowMs();
    const lost: string[] = [];
    for (const id of unknown) {
      const sinceMs = this.unknownSinceMs.get(id);
      if (sinceMs === undefined) this.unknownSinceMs.set(id, nowMs);
      else if (nowMs - sinceMs >= RECHECK_MS && lost.length < MAX_RELEASED) lost.push(id);
    }
    return lost.length === 0 ? 0 : this.release(lost);
  }

  private async release(ids: readonly string[]): Promise<number> {
    const [row] = await this.dataSource.query<{ released: number; damaged: string[] }[]>(
      `SELECT * FROM execution_release_own($1, $2)`,
      [this.process.id, ids],
    );
    for (const accountId of row?.damaged ?? []) {
      this.logger.error(
        `the counters of account ${accountId} are damaged: its holds cannot be released`,
      );
    }
    const released = row?.released ?? 0;
    if (released > 0) {
      this.logger.error(
        { released: ids.slice(0, MAX_IDS_LOGGED) },
        `${released} calls that had ended in this process were still running in the database: their holds are released`,
      );
    }
    return released;
  }
}
