import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { DownloadStep } from '../../src/tasks/worker/download-step.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import type { TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const LEASE_MS = 30_000;

describe('edges of a task', () => {
  let harness: TaskHarness;
  let account: TestAccount;
  beforeAll(async () => {
    harness = await startTaskHarness();
    account = await harness.gateway.account(1_000_000n);
    harness.provider.state = {
      status: 'done',
      progress: 100,
      result: { url: 'https://m.example/a' },
    };
  });
  afterAll(async () => {
    await harness.gateway.expectCleanBooks();
    await harness.stop();
  });

  it('work that is under way here is not claimed again, although its lease is over', async () => {
    const statements = harness.gateway.app.get(TaskWorkRepository);
    const task = await harness.submit(account);
    const claim = (mine: readonly string[]) =>
      statements.claim({ available: new Map(), inUse: [], runningIds: mine, leaseMs: LEASE_MS });
    expect(await claim([])).toHaveLength(1);
    await harness.hurry();
    expect(await claim([task.id])).toEqual([]);
    expect(await claim([])).toHaveLength(1);
    await harness.run(2);
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
  });

  it('a shutdown is no failure of the file: the collection is done again with the failure count it had', async () => {
    const task = await harness.submit(account, { kind: 'file-job' });
    await harness.run(2);
    await harness.hurry();
    const [work] = await harness.gateway.app
      .get(TaskWorkRepository)
      .claim({ available: new Map(), inUse: [], runningIds: [], leaseMs: LEASE_MS });
    expect(work).toMatchObject({ phase: 'collecting', failureCount: 0 });
    const stop = new AbortController();
    stop.abort(new Error('the gateway is shutting down'));
    harness.files.failures = 1;
    await harness.gateway.app.get(DownloadStep).run(work!, stop.signal);
    const [row] = await harness.gateway.dataSource.query<{ phase: string; strikes: number }[]>(
      'SELECT phase, strikes FROM task_work WHERE task_id = $1',
      [task.id],
    );
    expect(row).toEqual({ phase: 'collecting', strikes: 0 });
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
  });

  it('a request of play money is not sent to an upstream that is paid with real money', async () => {
    const { dataSource } = harness.gateway;
    const task = await harness.submit(account);
    await dataSource.query(
      `UPDATE task SET on_sandbox = true, provider_base_url = 'http://127.0.0.1:1' WHERE id = $1`,
      [task.id],
    );
    const jobs = harness.provider.jobs.size;
    await harness.run(2);
    expect(harness.provider.jobs.size).toBe(jobs);
    expect(await harness.read(task)).toMatchObject({ status: 'queued' });
    await dataSource.query(
      `UPDATE task SET on_sandbox = false, provider_base_url = $2 WHERE id = $1`,
      [task.id, harness.provider.url],
    );
    await harness.run(2);
    expect(harness.provider.jobs.size).toBe(jobs + 1);
  });

  it('an audit finds a charge that is not its seconds at their price', async () => {
    const { dataSource } = harness.gateway;
    const task = await harness.submit(account);
    await harness.run(2);
    expect(await harness.read(task)).toMatchObject({
      chargedMicroUsd: JOB_PRICE,
      basis: { unit: 'second', quantity: 5, unitPrice: '2500' },
    });
    const rules = async () => (await auditLedger(dataSource)).discrepancies.map(({ rule }) => rule);
    await dataSource.query('UPDATE task SET quantity = $2 WHERE id = $1', [task.id, '4']);
    expect(await rules()).toEqual(['a charge is the sum of its lines, at most its hold']);
    await dataSource.query('UPDATE task SET quantity = $2 WHERE id = $1', [task.id, '5']);
    expect(await rules()).toEqual([]);
  });
});
