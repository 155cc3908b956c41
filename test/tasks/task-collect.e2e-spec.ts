import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Task } from '../../src/tasks/task.js';
import { UnusableFileError } from '../../src/tasks/collect-failure.js';
import type { TestAccount } from '../support/gateway.js';
import { until } from '../support/until.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';

let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  // Nobody decides the tasks of the test before.
  await harness.gateway.dataSource.query(`DELETE FROM task_work WHERE phase = 'watching'`);
  account = await harness.gateway.account();
  harness.provider.state = {
    status: 'done',
    progress: 100,
    result: { url: 'https://m.example/a' },
  };
  harness.files.reason = new Error('the disk is full');
  harness.files.failures = 0;
  harness.files.tidied = 0;
  harness.files.forgets = true;
});

/** A task that the provider has done, whose file cannot be stored so many times. */
async function done(failures: number): Promise<Task> {
  harness.files.failures = failures;
  const task = await harness.submit(account, { kind: 'file-job' });
  await harness.run(2);
  expect(await harness.read(task)).toMatchObject({ status: 'processing', result: null });
  return task;
}
/** The first failure lies back so long. */
const pass = (task: Task, minutes: number) =>
  harness.gateway.dataSource.query(
    `UPDATE task_work SET put_off_at = now() - $2 * interval '1 minute' WHERE task_id = $1`,
    [task.id, minutes],
  );
const held = async () => (await harness.gateway.balance(account.accountId)).held;

describe('the file of a job that is done', () => {
  it('is stored before the task succeeds, however often that failed in ten minutes', async () => {
    const task = await done(12);
    await harness.run(12);
    await pass(task, 9);
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    await harness.run();
    const { status, content, result } = await harness.read(task);
    expect({ status, result }).toEqual({
      status: 'succeeded',
      result: { content_type: 'audio/mpeg' },
    });
    expect(content?.expiresAt).toBeInstanceOf(Date);
  });

  it('that cannot be stored for ten minutes is for an operator, and the hold stays', async () => {
    const task = await done(100);
    await harness.run(2);
    await pass(task, 10);
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'reconciliation_required' });
    expect(await held()).toBe(JOB_PRICE);
  });

  it('that is none is fetched five times in all', async () => {
    harness.files.reason = new UnusableFileError('empty');
    const task = await done(100);
    await harness.run(4);
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'reconciliation_required' });
    expect(harness.files.failures).toBe(95);
  });
});

it('the files of tasks with an unknown outcome are fetched four at once; the others wait, and no try is counted', async () => {
  const done = harness.provider.state;
  const tasks = await Promise.all(
    Array.from({ length: 6 }, () => harness.submit(account, { kind: 'file-job' })),
  );
  await harness.run();
  harness.provider.state = { status: '', broken: '500' };
  for (const task of tasks) await harness.overdue(task);
  await harness.run();
  harness.provider.state = done;
  const gate = new EventTarget();
  const collect = harness.files.collect.bind(harness.files);
  let begun = 0;
  harness.files.collect = async (task) => {
    begun += 1;
    await new Promise((resolve) => {
      gate.addEventListener('open', resolve, { once: true });
    });
    return collect(task);
  };
  await harness.hurry();
  const step = harness.step();
  const strikes = async () =>
    (
      await harness.gateway.dataSource.query<{ strikes: number }[]>(
        `SELECT strikes FROM task_work JOIN task ON id = task_id
          WHERE evidence_status = 'succeeded' AND task.account_id = $1 ORDER BY strikes`,
        [account.accountId],
      )
    ).map((work) => work.strikes);
  await until(async () => (await strikes()).length === 6 && begun >= 4);
  expect([begun, await strikes()]).toEqual([4, [0, 0, 1, 1, 1, 1]]);
  harness.files.collect = collect;
  gate.dispatchEvent(new Event('open'));
  await step;
  await harness.run();
  for (const task of tasks) expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
  expect(await held()).toBe(0n);
});

describe('what the provider keeps of a job', () => {
  it('is removed once, after the end and never before', async () => {
    const task = await done(1);
    await harness.run();
    expect(harness.files.tidied).toBe(0);
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
    await harness.run();
    expect(harness.files.tidied).toBe(1);
  });

  it('may stay: status and money are the same', async () => {
    harness.files.forgets = false;
    const task = await done(0);
    await harness.run();
    const { status, chargedMicroUsd } = await harness.read(task);
    expect([status, chargedMicroUsd, harness.files.tidied]).toEqual(['succeeded', JOB_PRICE, 1]);
    expect(await held()).toBe(0n);
  });
});
