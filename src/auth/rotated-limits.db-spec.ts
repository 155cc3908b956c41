import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { endTask } from '../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import {
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../test/support/test-ledger.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { SystemClock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService } from './api-keys.service.js';

interface Queries {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}

const NO_LIMIT = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
} as const;

let database: TestDatabase;
let keys: ApiKeysService;
let accountId: string;
let keyId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  keys = new ApiKeysService(database.dataSource.getRepository(ApiKey), new SystemClock());
});
afterAll(() => database.drop());
beforeEach(async () => {
  accountId = await fundedAccount(database.dataSource, 1_000_000n);
  const { record } = await keys.issue(accountId, {
    ...NO_LIMIT,
    spendLimitMicroUsd: 5_000n,
    spendLimitPeriod: 'total',
  });
  keyId = record.id;
});

async function submit(key: string, amount: number, on: Queries = database.dataSource) {
  const id = uuidV7(Date.now());
  const [row] = (await on.query(
    `SELECT outcome FROM task_submit_v2($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true,
       'm', 'waiting:sandbox', $4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL, NULL)`,
    [accountId, id, key, amount],
  )) as { outcome: string }[];
  return { id, outcome: row?.outcome };
}
const deliverLate = (id: string, charge: number) =>
  endTask(database.dataSource, accountId, id, { late: charge });
const giveBack = (id: string, amount: number) =>
  database.dataSource.query(`SELECT task_refund_v3($1, $2, $3, 'refund', NULL, 'goodwill')`, [
    accountId,
    id,
    amount,
  ]);
const end = (id: string, charge: number | null) =>
  endTask(database.dataSource, accountId, id, charge ?? 'failed');
async function rotated(key = keyId): Promise<string> {
  return (await keys.rotate(key, 0))?.record.id ?? '';
}

describe('the limit of a key that is rotated', () => {
  it('counts a submission under the old key that is still running', async () => {
    await submit(keyId, 100);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    expect((await submit(keyId, 4_900, runner)).outcome).toBe('created');
    const rotation = rotated();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await runner.commitTransaction();
    await runner.release();
    expect((await submit(await rotation, 4_900)).outcome).toBe('over_limit');
  });

  it('regains the released holds of calls that were open, also after another rotation', async () => {
    const { executions } = ledgerOf(database.dataSource);
    const call = { ...startOf(accountId, 1_000n), apiKeyId: keyId, isCapped: true };
    expect(await executions.begin(call)).toMatchObject({ outcome: 'held' });
    const [failing, paid] = [await submit(keyId, 2_000), await submit(keyId, 1_900)];
    const second = await rotated();
    await executions.fail(call, FAILURE);
    expect(await keys.spentInPeriod(second)).toBe(3_900n);
    expect((await submit(second, 1_200)).outcome).toBe('over_limit');
    const third = await rotated(second);
    await end(failing.id, null);
    await end(paid.id, 900);
    for (const each of [keyId, second, third]) expect(await keys.spentInPeriod(each)).toBe(900n);
    expect((await submit(third, 4_200)).outcome).toBe('over_limit');
    expect((await submit(third, 4_100)).outcome).toBe('created');
    expect(await keys.spentInPeriod(second)).toBe(900n);
  });

  it('is not spent by the old key after its end, even if other processes still cache it', async () => {
    await submit(keyId, 1_000);
    const second = await rotated();
    expect((await submit(keyId, 100)).outcome).toBe('over_limit');
    const { executions } = ledgerOf(database.dataSource);
    const late = { ...startOf(accountId, 100n), apiKeyId: keyId, isCapped: true };
    expect(await executions.begin(late)).toMatchObject({ outcome: 'over_limit' });
    expect((await submit(second, 4_000)).outcome).toBe('created');
  });

  it('is no longer spent by a key that was revoked', async () => {
    await keys.revoke(keyId);
    expect((await submit(keyId, 100)).outcome).toBe('over_limit');
  });

  it('passes on no call that ended before the next rotation, and frees what it gives back in all of them', async () => {
    const { executions } = ledgerOf(database.dataSource);
    const call = { ...startOf(accountId, 2_000n), apiKeyId: keyId, isCapped: true };
    await executions.begin(call);
    const second = await rotated();
    await executions.succeed(call, successOf(2_000n));
    const third = await rotated(second);
    const rows = await database.dataSource.query<unknown[]>(
      'SELECT api_key_id FROM key_spend_carried WHERE account_id = $1',
      [accountId],
    );
    expect(rows).toEqual([{ api_key_id: second }]);
    expect(await keys.spentInPeriod(third)).toBe(2_000n);
    await database.dataSource.query(
      `SELECT execution_cancel($1, $2, NULL, 'm', '/', 'service_unavailable', NULL, NULL)`,
      [accountId, call.executionId],
    );
    for (const each of [keyId, second, third]) expect(await keys.spentInPeriod(each)).toBe(0n);
  });

  it('regains released holds also if the limit was set after the calls began', async () => {
    const task = await submit(keyId, 2_000);
    await keys.update(keyId, () => ({ spendLimitPeriod: 'month' }));
    const second = await rotated();
    expect(await keys.spentInPeriod(second)).toBe(2_000n);
    await end(task.id, null);
    expect(await keys.spentInPeriod(second)).toBe(0n);
  });

  it('is spent by a task of the old key that is delivered late, and regains what is given back of it', async () => {
    const [before, after] = [await submit(keyId, 2_000), await submit(keyId, 2_000)];
    await end(before.id, null);
    const second = await rotated();
    await end(after.id, null);
    const third = await rotated(second);
    for (const each of [keyId, second, third]) expect(await keys.spentInPeriod(each)).toBe(0n);
    await deliverLate(before.id, 1_500);
    await deliverLate(after.id, 900);
    for (const each of [keyId, second, third]) expect(await keys.spentInPeriod(each)).toBe(2_400n);
    expect((await submit(third, 2_700)).outcome).toBe('over_limit');
    await giveBack(before.id, 400);
    const fourth = await rotated(third);
    for (const each of [keyId, second, third, fourth])
      expect(await keys.spentInPeriod(each)).toBe(2_000n);
    await database.dataSource.query(`SELECT task_refund_v3($1, $2, NULL, NULL, NULL, 'goodwill')`, [
      accountId,
      before.id,
    ]);
    for (const each of [keyId, second, third, fourth])
      expect(await keys.spentInPeriod(each)).toBe(900n);
    expect((await submit(fourth, 4_100)).outcome).toBe('created');
  });

  it('counts a late delivery of a key without a limit, whenever the limit of its successor is set', async () => {
    const free = (await keys.issue(accountId, { ...NO_LIMIT })).record.id;
    const late = await submit(free, 2_000);
    await end(late.id, null);
    const second = await rotated(free);
    await deliverLate(late.id, 1_500);
    await keys.update(second, () => ({ spendLimitMicroUsd: 2_000n, spendLimitPeriod: 'total' }));
    expect(await keys.spentInPeriod(second)).toBe(1_500n);
    expect((await submit(second, 501)).outcome).toBe('over_limit');
    expect((await submit(second, 500)).outcome).toBe('created');
  });

  it('takes over a late delivery that usage has not counted yet', async () => {
    const free = (await keys.issue(accountId, { ...NO_LIMIT })).record.id;
    const late = await submit(free, 2_000);
    await end(late.id, null);
    // Usage has counted the task as failed.
    await database.dataSource.query('UPDATE usage_state SET folded_until = clock_timestamp()');
    await deliverLate(late.id, 1_500);
    const second = await rotated(free);
    await keys.update(second, () => ({ spendLimitMicroUsd: 2_000n, spendLimitPeriod: 'total' }));
    expect(await keys.spentInPeriod(second)).toBe(1_500n);
  });
});
