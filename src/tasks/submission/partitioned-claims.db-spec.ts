import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPartitionedDatabase } from '../../../test/support/partitioned-database.js';
import type { TestDatabase } from '../../../test/support/test-database.js';
import { IDLE_TICKER } from '../../../test/support/test-ledger.js';
import { IdempotencyClaims } from './idempotency-claims.js';

const ACCOUNTS = 40;

let database: TestDatabase;
beforeAll(async () => {
  database = await createPartitionedDatabase();
});
afterAll(() => database.drop());

it('the sweep of claims deletes stale ones and no key of another account, on a partitioned table', async () => {
  const { dataSource } = database;
  await dataSource.query(
    `INSERT INTO idempotency_key (account_id, endpoint, key, fingerprint, token, task_id, lease_until)
       SELECT gen_random_uuid(), '/v1/videos/generations', 'key', '', gen_random_uuid(),
              CASE WHEN n % 5 > 0 THEN gen_random_uuid() END, now() - interval '1 day'
         FROM generate_series(1, $1::int) n`,
    [ACCOUNTS],
  );
  const [row] = await dataSource.query<{ most: number }[]>(
    'SELECT max(n)::int AS most FROM (SELECT count(*) AS n FROM idempotency_key GROUP BY ctid) t',
  );
  // Otherwise the test would prove nothing.
  expect(row?.most).toBeGreaterThan(1);
  const claims = new IdempotencyClaims(dataSource, IDLE_TICKER, { secretKeys: [] });
  expect(await claims.sweep()).toBe(ACCOUNTS / 5);
  const [left] = await dataSource.query<{ bound: number }[]>(
    'SELECT count(*)::int AS bound FROM idempotency_key WHERE task_id IS NOT NULL',
  );
  expect(left?.bound).toBe((ACCOUNTS / 5) * 4);
});
