import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { Task } from '../../src/tasks/task.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import type { TestAccount } from '../support/gateway.js';
import {
  JOB_PRICE,
  startBeside,
  startTaskHarness,
  type TaskHarness,
} from '../support/task-harness.js';
import { withWatchedStatements } from '../support/watched-statements.js';

const CREDIT = 1_000_000n;
let proxy: DatabaseProxy;
let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  proxy = await startDatabaseProxy(process.env.TEST_SERVER_URL ?? '');
  harness = await startTaskHarness((databaseUrl) => ({ DATABASE_URL: proxy.through(databaseUrl) }));
});
afterAll(async () => {
  await harness.stop();
  await proxy.stop();
});
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
  harness.provider.state = { status: 'done', result: { url: 'x' } };
});
afterEach(() => {
  harness.provider.delayMs = 0;
});

const workOf = (task: Task) =>
  harness.gateway.dataSource.query<{ phase: string }[]>(
    `SELECT phase FROM task_work WHERE task_id = $1`,
    [task.id],
  );

/** Until the provider has the request of the step under way. */
async function untilSent(name: string): Promise<void> {
  while (!harness.provider.submissions.has(name)) await sleep(5);
}

describe('a database that goes away', () => {
  it('while a provider answers loses no answer, and nothing is sent twice', async () => {
    const task = await harness.submit(account, { name: 'away' });
    harness.provider.delayMs = 300;
    const step = harness.step();
    await untilSent('away');
    await proxy.cut();
    await sleep(1_500);
    await proxy.mend();
    await step;
    harness.provider.delayMs = 0;
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
    expect(harness.provider.submissions.get('away')).toBe(1);
    await harness.gateway.expectCleanBooks();
  });

  it('while tasks end settles each of them once', async () => {
    const tasks = await Promise.all(Array.from({ length: 20 }, () => harness.submit(account)));
    await harness.run();
    await harness.hurry();
    const step = harness.step();
    for (let cuts = 0; cuts < 3; cuts += 1) {
      await sleep(15);
      await proxy.cut();
      await sleep(50);
      await proxy.mend();
    }
    await step.catch(() => undefined);
    await harness.worker.whenIdle();
    await harness.run(2);
    for (const task of tasks) expect((await harness.read(task)).status).toBe('succeeded');
    const { available, held } = await harness.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: CREDIT - 20n * JOB_PRICE, held: 0n });
  });

  it('that ends the session of a completion gets the statement again: the task ends once', async () => {
    const task = await harness.submit(account, { name: 'session', plan: 'done' });
    let asked = 0;
    const breaking = (name: string | undefined) => {
      if (name !== 'task_complete') return;
      asked += 1;
      if (asked <= 2) throw new Error('Connection terminated unexpectedly');
    };
    const { app } = harness.gateway;
    await withWatchedStatements(app.get(DataSource), breaking, () => harness.step());
    expect(asked).toBe(3);
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
    expect(harness.provider.submissions.get('session')).toBe(1);
    await harness.gateway.expectCleanBooks();
  });

  it('at any moment of a submission leaves one task for a retry with the same key', async () => {
    for (let round = 0; round < 12; round += 1) {
      const key = `cut ${round}`;
      const first = harness.submit(account, { key, name: key }).catch(() => undefined);
      await sleep(round);
      await proxy.cut();
      await sleep(20);
      await proxy.mend();
      await first;
      await harness.gateway.dataSource.query(
        `UPDATE idempotency_key SET lease_until = now() - interval '1 second' WHERE task_id IS NULL`,
      );
      const task = await harness.submit(account, { key, name: key });
      expect((await harness.submit(account, { key, name: key })).id).toBe(task.id);
    }
    const [row] = await harness.gateway.dataSource.query<{ tasks: number; held: string }[]>(
      `SELECT count(*)::integer AS tasks, sum(reserved) AS held FROM task WHERE account_id = $1`,
      [account.accountId],
    );
    expect(row).toEqual({ tasks: 12, held: (12n * JOB_PRICE).toString() });
    expect((await harness.gateway.balance(account.accountId)).held).toBe(12n * JOB_PRICE);
  });
});

describe('a completion whose webhook cannot be written', () => {
  it('is no end: status, money and webhook commit together or not at all', async () => {
    const webhook = { url: 'https://example.com/hook', secret: undefined };
    const task = await harness.submit(account, { webhook });
    await harness.run();
    await harness.gateway.dataSource.query(`ALTER TABLE webhook_delivery RENAME TO hidden`);
    try {
      await harness.run();
      expect(await harness.read(task)).toMatchObject({
        status: 'processing',
        chargedMicroUsd: null,
      });
      expect((await harness.gateway.balance(account.accountId)).held).toBe(JOB_PRICE);
    } finally {
      await harness.gateway.dataSource.query(`ALTER TABLE hidden RENAME TO webhook_delivery`);
    }
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
    const told = await harness.gateway.dataSource.query<unknown[]>(
      `SELECT FROM webhook_delivery WHERE owner_id = $1`,
      [task.id],
    );
    expect(told).toHaveLength(1);
  });
});

describe('two gateways on one database', () => {
  let beside: TaskHarness;
  beforeEach(async () => {
    beside = await startBeside(harness);
  });
  afterEach(() => beside.stop());

  it('let a worker that was paused beyond its lease change nothing', async () => {
    const task = await harness.submit(account, { name: 'paused' });
    // Longer than the other needs, on a busy machine too.
    harness.provider.delayMs = 8_000;
    const paused = harness.step();
    await untilSent('paused');
    await harness.hurry();
    await beside.step();
    expect(await harness.read(task)).toMatchObject({ status: 'reconciliation_required' });
    await paused;
    expect(await harness.read(task)).toMatchObject({ status: 'reconciliation_required' });
    expect(harness.provider.submissions.get('paused')).toBe(1);
    expect((await harness.gateway.balance(account.accountId)).held).toBe(JOB_PRICE);
  });

  it('share the work and send nothing twice', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `shared ${index}`);
    const tasks = await Promise.all(names.map((name) => harness.submit(account, { name })));
    await Promise.all([harness.step(), beside.step(), harness.step(), beside.step()]);
    await harness.hurry();
    await Promise.all([harness.step(), beside.step()]);
    await harness.run();
    for (const name of names) expect(harness.provider.submissions.get(name)).toBe(1);
    for (const task of tasks) expect((await harness.read(task)).status).toBe('succeeded');
  });

  it('go on with what the other began before it was stopped (TASK-28)', async () => {
    const [queued, processing] = [await beside.submit(account), await beside.submit(account)];
    await harness.gateway.dataSource.query(
      `UPDATE task_work SET due_at = now() + interval '1 hour' WHERE task_id = $1`,
      [queued.id],
    );
    harness.provider.delayMs = 200;
    const step = beside.step();
    await sleep(50);
    await beside.worker.drain(5_000);
    await step;
    harness.provider.delayMs = 0;
    expect(await harness.read(processing)).toMatchObject({ status: 'processing' });
    expect(await workOf(queued)).toEqual([{ phase: 'waiting' }]);
    await harness.run(2);
    for (const task of [queued, processing]) {
      expect((await harness.read(task)).status).toBe('succeeded');
    }
  });
});
