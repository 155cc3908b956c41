import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { IDLE_MS } from './console-session.js';

const INTERVAL_MS = 60_000;
/** Rows that one statement deletes. */
const BATCH = 1_000;
/** Most statements of one sweep for each reason. The rest waits for the next sweep. */
const MAX_BATCHES = 20;

const sweepOf = (table: string, key: string, column: string): string => `
  DELETE FROM ${table} WHERE ${key} IN (
    SELECT ${key} FROM ${table} WHERE ${column} <= $1 ORDER BY ${column} LIMIT ${BATCH})`;

const OVER = sweepOf('console_session', 'id', 'expires_at');
const IDLE = sweepOf('console_session', 'id', 'last_seen_at');
const LINKS = sweepOf('portal_link', 'secret_hash', 'expires_at');

/** Deletes the rows of sessions that have ended and of links that are too old. */
@Injectable()
export class SessionSweeper implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'console-sessions',
      intervalMs: INTERVAL_MS,
      tick: (stopping) => this.sweep(stopping),
    });
  }

  /** No statement begins after the signal aborts. */
  async sweep(stopping?: AbortSignal): Promise<void> {
    const nowMs = this.clock.nowMs();
    const now = new Date(nowMs);
    const sweeps = [
      [OVER, now],
      [IDLE, new Date(nowMs - IDLE_MS)],
      [LINKS, now],
    ] as const;
    for (const [sql, before] of sweeps) await this.delete(sql, before, stopping);
  }

  private async delete(sql: string, before: Date, stopping?: AbortSignal): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES && stopping?.aborted !== true; batch += 1) {
      const [, deleted] = await this.dataSource.query<[unknown, number]>(sql, [before]);
      if (deleted < BATCH) break;
    }
  }
}
