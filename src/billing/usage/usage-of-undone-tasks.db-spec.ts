import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { endTask } from '../../../test/support/end-task.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';

let desk: UsageDesk;
beforeAll(async () => {
  desk = await UsageDesk.open();
});
afterAll(() => desk.close());

it('the reversed charge of a task is subtracted from the usage of its key and model, before and after folding', async () => {
  const { dataSource } = desk;
  const accountId = await fundedAccount(dataSource, 1_000n);
  const keyId = randomUUID();
  const taskId = uuidV7(Date.now());
  await dataSource.query(
    `SELECT task_submit($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    [accountId, taskId, keyId],
  );
  await endTask(dataSource, accountId, taskId, 200);
  expect(await desk.reports.chargedTo(accountId, keyId)).toBe(200n);
  expect(
    await dataSource.query('SELECT task_cancel($1, $2) AS outcome', [accountId, taskId]),
  ).toEqual([{ outcome: 'reversed' }]);
  const byModel = () => desk.rowsBy(accountId, 'model', 'endpoint');
  for (let fold = 0; fold < 3; fold++) {
    expect(await desk.reports.chargedTo(accountId, keyId)).toBe(0n);
    expect(await byModel()).toMatchObject([
      { model: 'tune-music', endpoint: '/v1/music/generations', calls: '1', charged: '0' },
    ]);
    await desk.rollup.tick(0);
  }
});
