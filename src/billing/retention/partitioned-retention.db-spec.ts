import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPartitionedDatabase } from '../../../test/support/partitioned-database.js';
import type { TestDatabase } from '../../../test/support/test-database.js';
import { IDLE_TICKER } from '../../../test/support/test-ledger.js';
import { RecordRetention } from './record-retention.js';

const ACCOUNTS = 40;
const DAYS = 30;

let database: TestDatabase;
beforeAll(async () => {
  database = await createPartitionedDatabase();
});
afterAll(() => database.drop());

/** One row in five is to be deleted. */
const ROWS = {
  kept_song_step: `
    INSERT INTO kept_song_step (account_id, upstream, digest, memory, created_at)
      SELECT gen_random_uuid(), 'u', 'd', '{}', now() - CASE WHEN n % 5 = 0 THEN 2 ELSE 0 END * interval '1 day'
        FROM generate_series(1, $1::int) n`,
  webhook_delivery: `
    INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, status, created_at, event)
      SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'u', 'o', '', 'delivered',
             now() - CASE WHEN n % 5 = 0 THEN 31 ELSE 29 END * interval '1 day', 'balance.low'
        FROM generate_series(1, $1::int) n`,
  // A call that runs is kept in the list, one without a record is not.
  key_spend_carried: `
    WITH called AS (
      INSERT INTO execution (account_id, id, held, model, endpoint)
        SELECT gen_random_uuid(), gen_random_uuid(), 0, 'm', '/' FROM generate_series(1, $1::int) n
        RETURNING account_id, id)
    INSERT INTO key_spend_carried (account_id, id, api_key_id, begun_at)
      SELECT account_id, CASE WHEN row_number() OVER () % 5 = 0 THEN gen_random_uuid() ELSE id END, gen_random_uuid(), now()
        FROM called`,
} as const;

it.each(Object.entries(ROWS))(
  'what is old of %s is dropped and nothing of another account, on a partitioned table',
  async (table, insert) => {
    const { dataSource } = database;
    await dataSource.query(insert, [ACCOUNTS]);
    const [row] = await dataSource.query<{ most: number }[]>(
      `SELECT max(n)::int AS most FROM (SELECT count(*) AS n FROM ${table} GROUP BY ctid) t`,
    );
    // Otherwise the test would prove nothing.
    expect(row?.most).toBeGreaterThan(1);
    await new RecordRetention(dataSource, IDLE_TICKER, { recordRetentionDays: DAYS }).tick(DAYS);
    const [left] = await dataSource.query<{ rows: number }[]>(
      `SELECT count(*)::int AS rows FROM ${table}`,
    );
    expect(left?.rows).toBe((ACCOUNTS / 5) * 4);
  },
);
