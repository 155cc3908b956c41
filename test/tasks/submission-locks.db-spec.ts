import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { fundedAccount } from '../support/test-ledger.js';

const PRICE = 10;
const MANY = 200;
const ENDPOINT = '/v1/videos';

interface Submission {
  readonly id: string;
  readonly key: string;
  readonly token: string;
}
interface Queries {
  query(sql: string, parameters: unknown[]): Promise<unknown>;
}
type Way = 'task_submit' | 'task_submit_v2';

let database: TestDatabase;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  accountId = await fundedAccount(database.dataSource, 1_000_000n);
});
afterAll(() => database.drop());

async function claimed(): Promise<Submission> {
  const [id, key, token] = [uuidV7(Date.now()), randomUUID(), randomUUID()];
  await database.dataSource.query(
    `SELECT idempotency_claim($1, '${ENDPOINT}', $2, ARRAY['\\x00'::bytea], $3, 60000)`,
    [accountId, key, token],
  );
  return { id, key, token };
}

async function submit(way: Way, { id, key, token }: Submission, on: Queries) {
  const [row] = (await on.query(
    `SELECT outcome FROM ${way}($1, $2, NULL, 'video', 'video', 'm', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', ${PRICE}, NULL, NULL, NULL, NULL, NULL, '${ENDPOINT}', $3, $4${way === 'task_submit_v2' ? ', true, NULL, NULL, NULL' : ''})`,
    [accountId, id, key, token],
  )) as { outcome: string }[];
  return row?.outcome;
}

/** Until a statement of the database waits for a lock. */
async function waitForWaiting(): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  while ((await database.dataSource.query<object[]>(waiting)).length === 0) await sleep(10);
}

describe('submissions with idempotency keys', () => {
  it.each([
    ['task_submit', 'task_submit'],
    ['task_submit', 'task_submit_v2'],
    ['task_submit_v2', 'task_submit'],
    ['task_submit_v2', 'task_submit_v2'],
  ] as const)(
    'do not deadlock where %s has the account and comes to the one that %s repeats',
    async (first, second) => {
      const [one, other] = [await claimed(), await claimed()];
      const runner = database.dataSource.createQueryRunner();
      await runner.startTransaction();
      // As a statement that many submissions share: the account is locked from the first on.
      expect(await submit(first, one, runner)).toBe('created');
      const repeated = submit(second, other, database.dataSource);
      await waitForWaiting();
      expect(await submit(first, other, runner)).toBe('created');
      await runner.commitTransaction();
      await runner.release();
      expect(await repeated).toBe('created');
    },
  );

  it('do not deadlock in any order, and each makes one task', async () => {
    const all = await Promise.all(Array.from({ length: MANY }, claimed));
    const ways = all.flatMap((submission, index) => {
      const [way, other]: Way[] =
        index % 2 === 0 ? ['task_submit', 'task_submit_v2'] : ['task_submit_v2', 'task_submit'];
      return [way, other].map((each) => submit(each!, submission, database.dataSource));
    });
    expect(new Set(await Promise.all(ways))).toEqual(new Set(['created']));
    const [row] = await database.dataSource.query<{ tasks: number; deadlocks: number }[]>(
      `SELECT (SELECT count(*)::int FROM task WHERE id = ANY ($1)) AS tasks,
              (SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()) AS deadlocks`,
      [all.map(({ id }) => id)],
    );
    expect(row).toEqual({ tasks: MANY, deadlocks: 0 });
  });
});
