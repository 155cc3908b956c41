import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { BatchedFunction } from '../../src/platform/database/batching/batched-function.js';
import { TASK_END_FUNCTION } from '../../src/tasks/completion/task-end-function.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { balanceOf, fundedAccount } from '../support/test-ledger.js';

const FUNDS = 1_000n;
const FAILED_TASK = { from: '{queued}', status: 'failed', money: 'release' };

let database: TestDatabase;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  accountId = await fundedAccount(database.dataSource, FUNDS);
});
afterAll(() => database.drop());

async function submitted(): Promise<string> {
  const id = uuidV7(Date.now());
  await database.dataSource.query(
    `SELECT task_submit($1, $2, NULL, 'video', 'video', 'm', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', 10, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    [accountId, id],
  );
  return id;
}

/** The end of a task that failed, as the function takes it. */
function failure(account: string, id: string): unknown[] {
  const { from, status, money } = FAILED_TASK;
  const columns = [null, true, null, '{}', null, 'provider_task_failed', 'no', null, null];
  const values = [account, id, null, from, false, status, money, ...columns, new Date()];
  const rest = TASK_END_FUNCTION.types.length - values.length;
  return [...values, ...Array<null>(rest).fill(null)];
}

/** Ends these tasks in one statement, in this order: it leaves when the end of a task that nobody has is answered. */
function inOneStatement(ids: readonly string[]): Promise<boolean[]> {
  const ends = new BatchedFunction<{ ended: boolean }>(database.dataSource, {
    ...TASK_END_FUNCTION,
    maxStatements: 1,
  });
  const [, ...outcomes] = [[randomUUID(), randomUUID()], ...ids.map((id) => [accountId, id])].map(
    async ([account = '', id = '']) => (await ends.run(failure(account, id))).ended,
  );
  return Promise.all(outcomes);
}

/** Until so many statements wait for a lock. */
async function waitForWaiting(count: number): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  while ((await database.dataSource.query<object[]>(waiting)).length < count) await sleep(10);
}

describe('ends of the same tasks in opposite orders', () => {
  it('do not deadlock, and each task ends once', async () => {
    const [one, other] = [await submitted(), await submitted()];
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [accountId]);
    const both = Promise.all([inOneStatement([one, other]), inOneStatement([other, one])]);
    both.catch(() => undefined);
    await waitForWaiting(2);
    await runner.commitTransaction();
    await runner.release();
    const [first, second] = await both;
    expect([...first, ...second].sort()).toEqual([false, false, true, true]);
    expect(await balanceOf(database.dataSource, accountId)).toEqual([FUNDS, 0n]);
  });
});
