import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ageRows } from '../../../test/support/age-rows.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../../../test/support/test-ledger.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { RecordRetention } from './record-retention.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('calls that a rotated key carried over', () => {
  it('are deleted a day after they ended, whether records are dropped or not', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, 1_000n);
    const { executions } = ledgerOf(dataSource);
    const [open, ended] = [startOf(accountId, 10n), startOf(accountId, 10n)];
    for (const start of [open, ended]) await executions.begin(start);
    const carried = () => dataSource.query<{ id: string }[]>(`SELECT id FROM key_spend_carried`);
    await dataSource.query(
      `INSERT INTO key_spend_carried SELECT account_id, id, gen_random_uuid(), now() FROM execution
       UNION ALL SELECT $1, gen_random_uuid(), gen_random_uuid(), now()`,
      [accountId],
    );
    await executions.succeed(ended, successOf(10n));
    const retention = new RecordRetention(dataSource, {} as Scheduler, {
      recordRetentionDays: undefined,
    });
    await retention.tick(undefined);
    expect(await carried()).toHaveLength(2);
    await ageRows(dataSource, 2);
    await retention.tick(undefined);
    expect(await carried()).toEqual([{ id: open.executionId }]);
  });
});
