import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { endTask } from '../../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { ApiKey } from '../../auth/api-key.entity.js';
import { ApiKeysService } from '../../auth/api-keys.service.js';
import { auditBooks } from '../audit/usage-audit.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { SystemClock } from '../../common/time/clock.js';
import { ReversalRepository } from '../recovery/reversal.repository.js';

const LIMIT = 500n;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('the reversed charge of a task no longer counts towards the limits of its key and of its successor', async () => {
  const { dataSource } = database;
  const keys = new ApiKeysService(dataSource.getRepository(ApiKey), new SystemClock());
  const accountId = await fundedAccount(dataSource, 1_000n);
  const { record: key } = await keys.issue(accountId, {
    name: null,
    allowedModels: null,
    expiresAt: null,
    requestsPerMinute: null,
    spendLimitMicroUsd: LIMIT,
    spendLimitPeriod: 'total',
  });
  const taskId = uuidV7(Date.now());
  await dataSource.query(
    `SELECT task_submit_v2($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL, NULL)`,
    [accountId, taskId, key.id],
  );
  const successor = (await keys.rotate(key.id, 60_000))?.record.id ?? '';
  await endTask(dataSource, accountId, taskId, 200);
  const spentBy = (id: string) => keys.spentInPeriod(id);
  expect([await spentBy(key.id), await spentBy(successor)]).toEqual([200n, 200n]);

  const bought = { apiKeyId: key.id, model: 'tune-music', kind: 'song' };
  const cancellations = new ReversalRepository(dataSource);
  expect(await cancellations.cancel({ taskId, accountId, bought })).toBe('reversed');
  expect(await cancellations.cancel({ taskId, accountId, bought })).toBe('nothing');
  expect([await spentBy(key.id), await spentBy(successor)]).toEqual([0n, 0n]);

  // A limit that begins to be counted now starts from the sums of usage.
  while ((await foldedSpendOf(key.id)) !== '0') await sleep(20);
  expect(await auditBooks(dataSource, 'full')).toMatchObject({ discrepancies: [] });

  async function foldedSpendOf(id: string) {
    await dataSource.query(`SELECT usage_fold('1000 days', '0')`);
    const [row] = await dataSource.query<[{ readonly spent: string }]>(
      `SELECT key_spent($1, $2, '-infinity') AS spent`,
      [accountId, id],
    );
    return row.spent;
  }
}, 10_000);
