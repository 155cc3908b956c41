import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StopSource } from '../../src/common/stop-signal.js';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { DownloadStep } from '../../src/tasks/worker/download-step.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import type { TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startTaskDesk, type TaskDesk } from '../support/task-desk.js';

const LEASE_MS = 30_000;

describe('edges of a task', () => {
  let desk: TaskDesk;
  let account: TestAccount;
  beforeAll(async () => {
    desk = await startTaskDesk();
    account = await desk.gateway.account(1_000_000n);
    desk.provider.state = { status: 'done', progress: 100, result: { url: 'https://m.example/a' } };
  });
  afterAll(async () => {
    await desk.gateway.provesClean();
    await desk.stop();
  });

  it('work that is under way here is not claimed again, although its lease is over', async () => {
    const statements = desk.gateway.app.get(TaskWorkRepository);
    const task = await desk.submit(account);
    const claim = (mine: readonly string[]) =>
      statements.claim({ rooms: new Map(), holdings: [], mine, leaseMs: LEASE_MS });
    expect(await claim([])).toHaveLength(1);
    await desk.hurry();
    expect(await claim([task.id])).toEqual([]);
    expect(await claim([])).toHaveLength(1);
    await desk.run(2);
    expect(await desk.read(task)).toMatchObject({ status: 'succeeded' });
  });

  it('a shutdown is no failure of the file: the collection is done again with the strikes it had', async () => {
    const task = await desk.submit(account, { kind: 'file-job' });
    await desk.run(2);
    await desk.hurry();
    const [work] = await desk.gateway.app
      .get(TaskWorkRepository)
      .claim({ rooms: new Map(), holdings: [], mine: [], leaseMs: LEASE_MS });
    expect(work).toMatchObject({ phase: 'collecting', strikes: 0 });
    const stop = new StopSource();
    stop.abort(new Error('the gateway is shutting down'));
    desk.files.failures = 1;
    await desk.gateway.app.get(DownloadStep).run(work!, stop);
    const [row] = await desk.gateway.dataSource.query<{ phase: string; strikes: number }[]>(
      'SELECT phase, strikes FROM task_work WHERE task_id = $1',
      [task.id],
    );
    expect(row).toEqual({ phase: 'collecting', strikes: 0 });
    await desk.run();
    expect(await desk.read(task)).toMatchObject({ status: 'succeeded' });
  });

  it('a request of play money is not sent to an upstream that is paid with real money', async () => {
    const { dataSource } = desk.gateway;
    const task = await desk.submit(account);
    await dataSource.query(
      `UPDATE task SET on_sandbox = true, provider_base_url = 'http://127.0.0.1:1' WHERE id = $1`,
      [task.id],
    );
    const jobs = desk.provider.jobs.size;
    await desk.run(2);
    expect(desk.provider.jobs.size).toBe(jobs);
    expect(await desk.read(task)).toMatchObject({ status: 'queued' });
    await dataSource.query(
      `UPDATE task SET on_sandbox = false, provider_base_url = $2 WHERE id = $1`,
      [task.id, desk.provider.url],
    );
    await desk.run(2);
    expect(desk.provider.jobs.size).toBe(jobs + 1);
  });

  it('an audit finds a charge that is not its seconds at their price', async () => {
    const { dataSource } = desk.gateway;
    const task = await desk.submit(account);
    await desk.run(2);
    expect(await desk.read(task)).toMatchObject({
      chargedMicroUsd: JOB_PRICE,
      basis: { unit: 'second', quantity: 5, unitPrice: '2500' },
    });
    const rules = async () => (await auditLedger(dataSource)).discrepancies.map(({ rule }) => rule);
    await dataSource.query('UPDATE task SET quantity = $2 WHERE id = $1', [task.id, '4']);
    expect(await rules()).toEqual(['a charge is its quantity at its unit price']);
    await dataSource.query('UPDATE task SET quantity = $2 WHERE id = $1', [task.id, '5']);
    expect(await rules()).toEqual([]);
  });
});
