import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { Task } from '../../src/tasks/task.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import type { TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startBeside, startTaskDesk, type TaskDesk } from '../support/task-desk.js';
import { withWatchedStatements } from '../support/watched-statements.js';

const CREDIT = 1_000_000n;
let proxy: DatabaseProxy;
let desk: TaskDesk;
let account: TestAccount;

beforeAll(async () => {
  proxy = await startDatabaseProxy(process.env.TEST_SERVER_URL ?? '');
  desk = await startTaskDesk((databaseUrl) => ({ DATABASE_URL: proxy.through(databaseUrl) }));
});
afterAll(async () => {
  await desk.stop();
  await proxy.stop();
});
beforeEach(async () => {
  account = await desk.gateway.account(CREDIT);
  desk.provider.state = { status: 'done', result: { url: 'x' } };
});
afterEach(() => {
  desk.provider.delayMs = 0;
});

const workOf = (task: Task) =>
  desk.gateway.dataSource.query<{ phase: string }[]>(
    `SELECT phase FROM task_work WHERE task_id = $1`,
    [task.id],
  );

/** Until the provider has the request of the step under way. */
async function untilSent(name: string): Promise<void> {
  while (!desk.provider.submissions.has(name)) await sleep(5);
}

describe('a database that goes away', () => {
  it('while a provider answers loses no answer, and nothing is sent twice', async () => {
    const task = await desk.submit(account, { name: 'away' });
    desk.provider.delayMs = 300;
    const step = desk.step();
    await untilSent('away');
    await proxy.cut();
    await sleep(1_500);
    await proxy.mend();
    await step;
    desk.provider.delayMs = 0;
    expect(await desk.read(task)).toMatchObject({ status: 'processing' });
    await desk.run();
    expect(await desk.read(task)).toMatchObject({ status: 'succeeded' });
    expect(desk.provider.submissions.get('away')).toBe(1);
    await desk.gateway.provesClean();
  });

  it('while tasks end settles each of them once', async () => {
    const tasks = await Promise.all(Array.from({ length: 20 }, () => desk.submit(account)));
    await desk.run();
    await desk.hurry();
    const step = desk.step();
    for (let cuts = 0; cuts < 3; cuts += 1) {
      await sleep(15);
      await proxy.cut();
      await sleep(50);
      await proxy.mend();
    }
    await step.catch(() => undefined);
    await desk.worker.whenIdle();
    await desk.run(2);
    for (const task of tasks) expect((await desk.read(task)).status).toBe('succeeded');
    const { available, held } = await desk.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: CREDIT - 20n * JOB_PRICE, held: 0n });
  });

  it('that ends the session of an end is asked again: the task ends once', async () => {
    const task = await desk.submit(account, { name: 'session', plan: 'done' });
    let asked = 0;
    const breaking = (name: string | undefined) => {
      if (name !== 'task_end_explaining') return;
      asked += 1;
      if (asked <= 2) throw new Error('Connection terminated unexpectedly');
    };
    const { app } = desk.gateway;
    await withWatchedStatements(app.get(DataSource), breaking, () => desk.step());
    expect(asked).toBe(3);
    expect(await desk.read(task)).toMatchObject({ status: 'succeeded' });
    expect(desk.provider.submissions.get('session')).toBe(1);
    await desk.gateway.provesClean();
  });

  it('at any moment of a submission leaves one task for a retry with the same key', async () => {
    for (let round = 0; round < 12; round += 1) {
      const key = `cut ${round}`;
      const first = desk.submit(account, { key, name: key }).catch(() => undefined);
      await sleep(round);
      await proxy.cut();
      await sleep(20);
      await proxy.mend();
      await first;
      await desk.gateway.dataSource.query(
        `UPDATE idempotency_key SET lease_until = now() - interval '1 second' WHERE task_id IS NULL`,
      );
      const task = await desk.submit(account, { key, name: key });
      expect((await desk.submit(account, { key, name: key })).id).toBe(task.id);
    }
    const [row] = await desk.gateway.dataSource.query<{ tasks: number; held: string }[]>(
      `SELECT count(*)::integer AS tasks, sum(reserved) AS held FROM task WHERE account_id = $1`,
      [account.accountId],
    );
    expect(row).toEqual({ tasks: 12, held: (12n * JOB_PRICE).toString() });
    expect((await desk.gateway.balance(account.accountId)).held).toBe(12n * JOB_PRICE);
  });
});

describe('an end that cannot be told', () => {
  it('is no end: status, money and webhook commit together or not at all', async () => {
    const webhook = { url: 'https://example.com/hook', secret: undefined };
    const task = await desk.submit(account, { webhook });
    await desk.run();
    await desk.gateway.dataSource.query(`ALTER TABLE webhook_delivery RENAME TO hidden`);
    try {
      await desk.run();
      expect(await desk.read(task)).toMatchObject({ status: 'processing', chargedMicroUsd: null });
      expect((await desk.gateway.balance(account.accountId)).held).toBe(JOB_PRICE);
    } finally {
      await desk.gateway.dataSource.query(`ALTER TABLE hidden RENAME TO webhook_delivery`);
    }
    await desk.run();
    expect(await desk.read(task)).toMatchObject({ status: 'succeeded' });
    const told = await desk.gateway.dataSource.query<unknown[]>(
      `SELECT FROM webhook_delivery WHERE owner_id = $1`,
      [task.id],
    );
    expect(told).toHaveLength(1);
  });
});

describe('two gateways on one database', () => {
  let beside: TaskDesk;
  beforeEach(async () => {
    beside = await startBeside(desk);
  });
  afterEach(() => beside.stop());

  it('let a worker that was paused beyond its lease change nothing', async () => {
    const task = await desk.submit(account, { name: 'paused' });
    // Longer than the other needs, on a busy machine too.
    desk.provider.delayMs = 8_000;
    const paused = desk.step();
    await untilSent('paused');
    await desk.hurry();
    await beside.step();
    expect(await desk.read(task)).toMatchObject({ status: 'reconciliation_required' });
    await paused;
    expect(await desk.read(task)).toMatchObject({ status: 'reconciliation_required' });
    expect(desk.provider.submissions.get('paused')).toBe(1);
    expect((await desk.gateway.balance(account.accountId)).held).toBe(JOB_PRICE);
  });

  it('share the work and send nothing twice', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `shared ${index}`);
    const tasks = await Promise.all(names.map((name) => desk.submit(account, { name })));
    await Promise.all([desk.step(), beside.step(), desk.step(), beside.step()]);
    await desk.hurry();
    await Promise.all([desk.step(), beside.step()]);
    await desk.run();
    for (const name of names) expect(desk.provider.submissions.get(name)).toBe(1);
    for (const task of tasks) expect((await desk.read(task)).status).toBe('succeeded');
  });

  it('go on with what the other began before it was stopped (TASK-28)', async () => {
    const [queued, processing] = [await beside.submit(account), await beside.submit(account)];
    await desk.gateway.dataSource.query(
      `UPDATE task_work SET due_at = now() + interval '1 hour' WHERE task_id = $1`,
      [queued.id],
    );
    desk.provider.delayMs = 200;
    const step = beside.step();
    await sleep(50);
    await beside.worker.drain(5_000);
    await step;
    desk.provider.delayMs = 0;
    expect(await desk.read(processing)).toMatchObject({ status: 'processing' });
    expect(await workOf(queued)).toEqual([{ phase: 'waiting' }]);
    await desk.run(2);
    for (const task of [queued, processing]) {
      expect((await desk.read(task)).status).toBe('succeeded');
    }
  });
});
