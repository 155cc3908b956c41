import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { fundedAccount } from '../../test/support/test-ledger.js';
import { until } from '../../test/support/until.js';
import { SystemClock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type KeyTerms } from './api-keys.service.js';

const TERMS: KeyTerms = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
};

let database: TestDatabase;
let keys: ApiKeysService;

beforeAll(async () => {
  database = await createTestDatabase();
  keys = new ApiKeysService(database.dataSource.getRepository(ApiKey), new SystemClock());
});
afterAll(() => database.drop());

async function waitingForLocks(count: number): Promise<void> {
  await until(async () => {
    const [row] = await database.dataSource.query<{ waiting: string }[]>(
      'SELECT count(DISTINCT pid) AS waiting FROM pg_locks WHERE NOT granted',
    );
    return Number(row?.waiting) === count;
  });
}

it('a key that is rotated while its maker is rotated has the new maker', async () => {
  const accountId = await fundedAccount(database.dataSource, 1_000n);
  const maker = await keys.issue(accountId, TERMS);
  const made = await keys.issue(accountId, TERMS, maker.record.id);
  const holder = database.dataSource.createQueryRunner();
  await holder.startTransaction();
  await holder.query('SELECT FROM account WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
  const rotated = keys.rotate(made.record.id, 0);
  await waitingForLocks(1);
  const rotatedMaker = keys.rotate(maker.record.id, 0);
  await waitingForLocks(2);
  await holder.commitTransaction();
  await holder.release();
  const [successor, newMaker] = [await rotated, await rotatedMaker];
  const found = await keys.find(successor?.record.id ?? '');
  expect(found?.makerId).toBe(newMaker?.record.id);
});
