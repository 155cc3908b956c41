import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { PreparedStatement } from '../platform/database/prepared-statement.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';

const POLL_INTERVAL_MS = 500;
/** A poll finds every change that was committed before it began. A change takes effect within 2 s (AUTH-04). */
const FRESH_MS = 1_500;
/** Longer than the time between a change's statement and its commit, with a margin for failed polls. */
const WINDOW_SECONDS = 15;
/** After a longer time without a poll, a change may be older than the window. */
const LONGEST_GAP_MS = 8_000;

/** A change of a key also changes what the keys that it made may do. */
const CHANGED = `
  WITH changed AS MATERIALIZED (
    SELECT id FROM api_key WHERE changed_at > now() - interval '${WINDOW_SECONDS} seconds')
  SELECT id FROM changed
  UNION ALL SELECT k.id FROM changed JOIN api_key k ON k.maker_id = changed.id`;

/** Called with the changed keys; with `all` when polls failed for so long that a change may have been missed. */
export type KeyChangeListener = (changed: readonly string[] | 'all') => void;

/** Queries the database twice a second for changed keys, so that this process may cache the other keys for long. */
@Injectable()
export class KeyChangePoller implements OnApplicationBootstrap {
  private readonly statement: PreparedStatement<{ id: string }>;
  private listener: KeyChangeListener = () => undefined;
  private polledAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
    private readonly scheduler: Scheduler,
  ) {
    this.statement = new PreparedStatement(dataSource, 'api_key_changes', CHANGED);
  }

  /** Whether every change that is older than 2 s has been reported. */
  get isFresh(): boolean {
    return this.clock.nowMs() - this.polledAtMs < FRESH_MS;
  }

  /** Calls the listener for every change of a key, at least once. */
  listen(listener: KeyChangeListener): void {
    this.listener = listener;
  }

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'key-changes',
      intervalMs: POLL_INTERVAL_MS,
      servesOwnCalls: true,
      // While the database cannot be reached, keys are looked up one by one, and those look-ups report the outage.
      tick: () => this.poll().catch(() => undefined),
    });
  }

  /** Polls once. Throws while the database cannot be reached; 2 s after the last poll `isFresh` becomes false. */
  async poll(): Promise<void> {
    const startedAtMs = this.clock.nowMs();
    const rows = await this.statement.run([]);
    const gapMs = startedAtMs - this.polledAtMs;
    this.listener(gapMs > LONGEST_GAP_MS ? 'all' : rows.map(({ id }) => id));
    this.polledAtMs = startedAtMs;
  }
}
