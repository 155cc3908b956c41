import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import {
  balanceOf,
  freshFolder,
  fundedAccount,
  ledgerOf,
  startOf,
} from '../../test/support/test-ledger.js';

const FUNDS = 1_000_000n;

describe('what a dead process owed', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('is paid behind a debt that cannot be paid, which stays on disk', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, FUNDS);
    const start = startOf(accountId, 10n);
    const dataDir = freshFolder();
    const dead = ledgerOf(dataSource, { dataDir });
    await dead.process.beat();
    await dead.owed.addDurably({ taskId: randomUUID(), accountId });
    await dead.executions.begin(start);
    const { executionId, apiKeyId, model, endpoint } = start;
    const error = { errorCode: 'service_unavailable', provider: null, providerRequestId: null };
    await dead.owed.addDurably({ executionId, accountId, apiKeyId, model, endpoint, ...error });

    const next = ledgerOf(dataSource, { dataDir });
    next.owed.endTasksBy(() => Promise.reject(new Error('no such kind of task')));
    await next.process.beat();
    await dataSource.query(`UPDATE gateway_process SET unbroken_since = now() - interval '1 h'`);
    const over = `UPDATE gateway_process SET lease_until = now() - interval '1 s' WHERE id = $1`;
    await dataSource.query(over, [dead.process.id]);
    expect(await next.owed.payForOthers()).toBe(1);
    expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS, 0n]);
    expect(await next.owed.payForOthers()).toBe(0);
    next.owed.endTasksBy(() => Promise.resolve());
    expect(await next.owed.payForOthers()).toBe(1);
    expect(await readdir(join(dataDir, 'owed'))).toEqual([]);
  });
});
