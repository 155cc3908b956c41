import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { fundedAccount, IDLE_TICKER } from '../../../test/support/test-ledger.js';
import { endTask } from '../../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { UsageReports } from './usage-reports.js';
import { UsageRollup } from './usage-rollup.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('the reversed charge of a task is subtracted from the usage of its key and model, before and after folding', async () => {
  const { dataSource } = database;
  const reports = new UsageReports(dataSource);
  const rollup = new UsageRollup(dataSource, IDLE_TICKER);
  const accountId = await fundedAccount(dataSource, 1_000n);
  const keyId = randomUUID();
  const taskId = uuidV7(Date.now());
  await dataSource.query(
    `SELECT task_submit($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    [accountId, taskId, keyId],
  );
  await endTask(dataSource, accountId, taskId, 200);
  expect(await reports.chargedTo(accountId, keyId)).toBe(200n);
  expect(
    await dataSource.query('SELECT task_cancel($1, $2) AS outcome', [accountId, taskId]),
  ).toEqual([{ outcome: 'reversed' }]);
  const byModel = () =>
    reports.rows({
      groupBy: ['model', 'endpoint'],
      fromDay: '2020-01-01',
      toDay: '2100-01-01',
      accountId,
      apiKeyId: undefined,
      model: undefined,
      limit: 10,
      offset: 0,
    });
  for (let fold = 0; fold < 3; fold++) {
    expect(await reports.chargedTo(accountId, keyId)).toBe(0n);
    expect(await byModel()).toMatchObject([
      { model: 'tune-music', endpoint: '/v1/music/generations', calls: '1', charged: '0' },
    ]);
    await rollup.tick(0);
  }
});
