import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { endTask } from '../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { FAILURE, fundedAccount, ledgerOf, startOf } from '../../test/support/test-ledger.js';
import { auditBooks } from '../billing/audit/usage-audit.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { SystemClock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type KeyTerms } from './api-keys.service.js';

const TERMS: KeyTerms = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
  spendLimitMicroUsd: null,
  spendLimitPeriod: null,
};
const CALL = 200n;
const TASK = 300n;
/** A process of version 0.1.0 knows only whether the key itself has a limit. */
const BEGINS = {
  limited: `SELECT begun FROM execution_step_capped_v2(ARRAY[$1]::uuid[], NULL, true, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
    '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{1}', ARRAY[$2]::uuid[], '{${CALL}}', ARRAY[$3]::uuid[], '{m}', '{/}',
    '{NULL}', '{true}')`,
  unlimited: `SELECT begun FROM execution_step_v2(ARRAY[$1]::uuid[], NULL, true, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
    '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{1}', ARRAY[$2]::uuid[], '{${CALL}}', ARRAY[$3]::uuid[], '{m}', '{/}',
    '{NULL}')`,
};
const SUBMITS = { limited: 'task_submit_capped', unlimited: 'task_submit' };

let database: TestDatabase;
let keys: ApiKeysService;

beforeAll(async () => {
  database = await createTestDatabase();
  keys = new ApiKeysService(database.dataSource.getRepository(ApiKey), new SystemClock());
});
afterAll(() => database.drop());

async function submit(accountId: string, key: string, of: keyof typeof SUBMITS): Promise<string> {
  const id = uuidV7(Date.now());
  const [row] = await database.dataSource.query<{ outcome: string }[]>(
    `SELECT outcome FROM ${SUBMITS[of]}($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', ${TASK}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    [accountId, id, key],
  );
  expect(row).toEqual({ outcome: 'created' });
  return id;
}

it.each(['limited', 'unlimited'] as const)(
  'calls and tasks of a %s made key that begin in a process of version 0.1.0 count for its maker',
  async (of) => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, 1_000_000n);
    const limit = { spendLimitMicroUsd: 100_000n, spendLimitPeriod: 'day' } as const;
    const makerId = (await keys.issue(accountId, { ...TERMS, ...limit })).record.id;
    const terms = of === 'limited' ? { ...TERMS, ...limit } : TERMS;
    const made = (await keys.issue(accountId, terms, makerId)).record.id;
    const start = { ...startOf(accountId, CALL), apiKeyId: made };
    const call = [accountId, start.executionId, made];
    expect(await dataSource.query(BEGINS[of], call)).toEqual([{ begun: ['held'] }]);
    const task = await submit(accountId, made, of);
    expect(await keys.spentInPeriod(makerId)).toBe(CALL + TASK);
    await ledgerOf(dataSource).executions.fail(start, FAILURE);
    await endTask(dataSource, accountId, task, 100);
    expect(await keys.spentInPeriod(makerId)).toBe(100n);
    expect(await auditBooks(dataSource, 'full')).toMatchObject({ discrepancies: [] });
  },
);
