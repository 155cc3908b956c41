import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Task } from '../../src/tasks/task.js';
import type { TestAccount } from '../support/gateway.js';
import { until } from '../support/until.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 1_000_000n;
const HOOK = { url: 'https://hooks.example/shim', secret: 'a-secret-of-a-receiver' };

let harness: TaskHarness;
beforeAll(async () => {
  harness = await startTaskHarness();
});
beforeEach(() => {
  harness.provider.state = { status: 'running', progress: 10 };
});
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.stop();
});

const statusesOf = (tasks: readonly Task[]) =>
  Promise.all(tasks.map(async (task) => (await harness.read(task)).status));

async function runWhileAny(tasks: readonly Task[], status: Task['status']): Promise<void> {
  do await harness.run();
  while ((await statusesOf(tasks)).includes(status));
}

/** Tasks that the provider is working on, one of each account in turn. */
async function startedTasks(accounts: readonly TestAccount[], count: number): Promise<Task[]> {
  const turns = Array.from({ length: count }, (_, turn) => accounts[turn % accounts.length]!);
  const tasks = await Promise.all(
    turns.map((account) => harness.submit(account, { webhook: HOOK, price: JOB_PRICE })),
  );
  await runWhileAny(tasks, 'queued');
  harness.provider.state = { status: 'done', progress: 100, result: { urls: [] } };
  return tasks;
}

const deliveriesOf = async (tasks: readonly Task[]): Promise<number> => {
  const [row] = await harness.gateway.dataSource.query<{ count: string }[]>(
    `SELECT count(*) FROM webhook_delivery WHERE owner_id = ANY ($1)`,
    [tasks.map(({ id }) => id)],
  );
  return Number(row?.count);
};

describe('ends that share a statement', () => {
  it('each charge their own account and leave one webhook', async () => {
    const accounts = [await harness.gateway.account(CREDIT), await harness.gateway.account(CREDIT)];
    const tasks = await startedTasks(accounts, 150);
    await runWhileAny(tasks, 'processing');
    expect(new Set(await statusesOf(tasks))).toEqual(new Set(['succeeded']));
    expect(await deliveriesOf(tasks)).toBe(150);
    for (const { accountId } of accounts) {
      const { available, held } = await harness.gateway.balance(accountId);
      expect({ available, held }).toEqual({ available: CREDIT - 75n * JOB_PRICE, held: 0n });
    }
  });

  it('do not fail with one that the database refuses, which changes nothing', async () => {
    const [good, bad] = [
      await harness.gateway.account(CREDIT),
      await harness.gateway.account(CREDIT),
    ];
    const tasks = await startedTasks([good, good, bad, good], 40);
    const { dataSource } = harness.gateway;
    await dataSource.query(
      `ALTER TABLE webhook_delivery ADD CONSTRAINT not_of_this_one CHECK (account_id <> '${bad.accountId}')`,
    );
    const [refused, ended] = [
      tasks.filter(({ accountId }) => accountId === bad.accountId),
      tasks.filter(({ accountId }) => accountId === good.accountId),
    ];
    try {
      await runWhileAny(ended, 'processing');
      expect(new Set(await statusesOf(ended))).toEqual(new Set(['succeeded']));
      expect(new Set(await statusesOf(refused))).toEqual(new Set(['processing']));
      expect((await harness.gateway.balance(bad.accountId)).held).toBe(10n * JOB_PRICE);
      expect(await deliveriesOf(refused)).toBe(0);
    } finally {
      await dataSource.query('ALTER TABLE webhook_delivery DROP CONSTRAINT not_of_this_one');
    }
    await runWhileAny(refused, 'processing');
    expect(new Set(await statusesOf(refused))).toEqual(new Set(['succeeded']));
    expect(await deliveriesOf(tasks)).toBe(40);
  });

  it('of an account that is locked elsewhere wait, and those of others go on', async () => {
    const [locked, free] = [
      await harness.gateway.account(CREDIT),
      await harness.gateway.account(CREDIT),
    ];
    const accounts = [...Array.from({ length: 20 }, () => free), locked];
    const tasks = await startedTasks(accounts, accounts.length);
    const last = tasks.slice(-1);
    const runner = harness.gateway.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await runner.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [locked.accountId]);
    const stepped = harness.run();
    try {
      await until(async () => (await harness.gateway.balance(free.accountId)).held === 0n);
      expect(await statusesOf(last)).toEqual(['processing']);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
    await stepped;
    await runWhileAny(tasks, 'processing');
    expect(new Set(await statusesOf(tasks))).toEqual(new Set(['succeeded']));
    expect(await deliveriesOf(tasks)).toBe(21);
  });
});
