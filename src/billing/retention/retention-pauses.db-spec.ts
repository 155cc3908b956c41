import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { IDLE_TICKER } from '../../../test/support/test-ledger.js';
import { RecordRetention } from './record-retention.js';

const DAYS = 30;
/** Three full batches and a last one. */
const RECORDS = 1_501;
const [PAUSE_PER_BATCH, MAX_PAUSE_MS] = [3, 1_000];
/** A batch takes at least so long here. */
const SLOWNESS_MS = 20;
/** Timers count whole milliseconds, and fire up to one early. */
const TIMER_MS = 2;
/** Calls of 70 days ago that no audit has proven: each is looked at and stays. */
const OLD_CALLS = `
  INSERT INTO execution (account_id, id, held, model, endpoint, status, completed_at, error_code, created_at)
    SELECT gen_random_uuid(), overlay(gen_random_uuid()::text placing left(first_id_since(at)::text, 13) from 1)::uuid,
           0, 'm', 'e', 'failed', at, 'cancelled', at
      FROM generate_series(1, $1), (SELECT now() - interval '70 days' AS at)`;

interface Batch {
  readonly startedMs: number;
  readonly endedMs: number;
}

describe('the pauses of retention', () => {
  let database: TestDatabase;
  let retention: RecordRetention;
  let batches: Batch[];
  let onBatch: () => void;
  beforeEach(async () => {
    database = await createTestDatabase();
    await database.dataSource.query(OLD_CALLS, [RECORDS]);
    batches = [];
    onBatch = () => undefined;
    retention = new RecordRetention(observed(database.dataSource), IDLE_TICKER, {
      recordRetentionDays: DAYS,
    });
  });
  afterEach(() => database.drop());

  /** The data source; notes when each batch of calls was under way. */
  function observed(dataSource: DataSource): DataSource {
    const query = async (sql: string, parameters: unknown[]): Promise<unknown> => {
      const startedMs = performance.now();
      const [rows] = await Promise.all([dataSource.query(sql, parameters), sleep(SLOWNESS_MS)]);
      if (!sql.includes('record_drop_calls')) return rows;
      batches.push({ startedMs, endedMs: performance.now() });
      onBatch();
      return rows;
    };
    return { query } as unknown as DataSource;
  }

  it('leave three quarters of the time to calls, at most one second per batch', async () => {
    await retention.tick(DAYS);
    expect(batches).toHaveLength(4);
    batches.slice(1).forEach(({ startedMs }, index) => {
      const { startedMs: beganMs, endedMs } = batches[index]!;
      const pauseMs = Math.min(PAUSE_PER_BATCH * (endedMs - beganMs), MAX_PAUSE_MS);
      expect(startedMs - endedMs).toBeGreaterThanOrEqual(pauseMs - TIMER_MS);
    });
  });

  it('end with the tick when the process drains', async () => {
    const stopping = new AbortController();
    onBatch = () => {
      stopping.abort();
    };
    await retention.tick(DAYS, stopping.signal);
    expect(batches).toHaveLength(1);
  });
});
