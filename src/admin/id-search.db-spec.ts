import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { dataSourceWithPlans } from '../../test/support/explain-plans.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { fundedAccount } from '../../test/support/test-ledger.js';
import { IdSearch } from './id-search.js';

const ROWS = 20_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const account = await fundedAccount(database.dataSource, 1_000n);
  await database.dataSource.query(
    `INSERT INTO execution (account_id, id, process_id, held, model, endpoint, client_request_id)
     SELECT $1, gen_random_uuid(), gen_random_uuid(), 0, 'm', '/v1/x', 'client ' || n FROM generate_series(1, $2::int) n`,
    [account, ROWS],
  );
  await database.dataSource.query(
    `INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after)
     SELECT $1, gen_random_uuid(), 'charge', -1, n FROM generate_series(1, $2::int) n`,
    [account, ROWS],
  );
  await database.dataSource.query('ANALYZE execution, ledger_entry');
});
afterAll(() => database.drop());

it('reads calls and entries by an index, whatever is looked for', async () => {
  const plans: string[] = [];
  const dataSource = await dataSourceWithPlans(database.url, (_statement, plan) =>
    plans.push(plan),
  );
  const search = new IdSearch(dataSource);
  const [call] = await search.find({ id: 'client 17' });
  expect(call).toMatchObject({ kind: 'execution' });
  for (const id of [call!.id, `entry_${call!.id.replaceAll('-', '')}`, 'invoice-17', 'fund'])
    await search.find({ id });
  await search.find({ id: `entry_${'0'.repeat(32)}` });
  await dataSource.destroy();
  const reading = plans.filter((plan) => /execution|ledger_entry/.test(plan));
  expect(reading.length).toBeGreaterThanOrEqual(6);
  for (const plan of reading) {
    expect(plan).not.toMatch(/Seq Scan on (execution|ledger_entry)/);
    expect(plan).toMatch(/execution_of_client_request|execution_by_id/);
    // One account was asked, so nothing but the found rows was read and thrown away.
    for (const [, removed = '0'] of plan.matchAll(/Rows Removed by Filter: (\d+)/g))
      expect(Number(removed)).toBeLessThan(100);
  }
});
