import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/time/clock.js';
import { Scheduler } from '../scheduler/scheduler.js';
import { WRITE_DEADLINE_MS } from './upload-reader.js';
import { StoredFiles } from './stored-files.js';

const INTERVAL_MS = 60_000;
/** Downloads that began before a file expired may continue for this long. */
const READ_GRACE_MS = 3_600_000;
/** Twice the longest time of a write. After it the writing process is dead or has given up. */
const ABANDONED_MS = 2 * WRITE_DEADLINE_MS;
const BATCH = 100;
/** Most batches of one sweep. The rest waits for the next sweep. */
const MAX_BATCHES = 20;

const NIL = '00000000-0000-0000-0000-000000000000';
const START: SweepCursor = { at: new Date(0), account_id: NIL, id: NIL };

const due = (state: string, time: string): string => `
  SELECT account_id, id, ${time} AS at FROM stored_file
   WHERE state = '${state}' AND ${time} <= $1 AND (${time}, account_id, id) > ($2, $3, $4)
   ORDER BY ${time}, account_id, id LIMIT ${BATCH}`;
const EXPIRED = due('stored', 'expires_at');
const ABANDONED = due('writing', 'created_at');

interface SweepCursor {
  readonly at: Date;
  readonly account_id: string;
  readonly id: string;
}

/**
 * Removes expired files and the rest of unfinished writings. Several sweepers may run at once, because removing a file
 * twice changes nothing.
 */
@Injectable()
export class StoredFileSweeper implements OnApplicationBootstrap {
  private readonly logger = new Logger(StoredFileSweeper.name);

  constructor(
    private readonly files: StoredFiles,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'stored-files',
      intervalMs: INTERVAL_MS,
      tick: (stopping) => this.sweep(stopping),
    });
  }

  /**
   * Returns the number of removed files. A file that the store cannot remove waits for the next sweep and does not stop
   * the others. Once the signal aborts, no further file is started: a store that does not respond needs half a minute
   * for each.
   */
  async sweep(stopping?: AbortSignal): Promise<number> {
    const nowMs = this.clock.nowMs();
    const expired = await this.removeAll(EXPIRED, new Date(nowMs - READ_GRACE_MS), stopping);
    const abandoned = await this.removeAll(ABANDONED, new Date(nowMs - ABANDONED_MS), stopping);
    return expired + abandoned;
  }

  private async removeAll(
    statement: string,
    until: Date,
    stopping: AbortSignal | undefined,
  ): Promise<number> {
    let removed = 0;
    let last = START;
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const values = [until, last.at, last.account_id, last.id];
      const found = await this.dataSource.query<SweepCursor[]>(statement, values);
      for (const cursor of found) {
        if (stopping?.aborted) return removed;
        removed += await this.removeOne(cursor, until);
      }
      last = found.at(-1) ?? last;
      if (found.length < BATCH) break;
    }
    return removed;
  }

  private async removeOne(
    { account_id: accountId, id }: SweepCursor,
    until: Date,
  ): Promise<number> {
    try {
      return (await this.files.removeExpiring(accountId, id, until)) ? 1 : 0;
    } catch (error) {
      this.logger.warn(`A stored file could not be removed: ${String(error)}`);
      return 0;
    }
  }
}
