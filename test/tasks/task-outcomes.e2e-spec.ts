import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Task, TaskStatus } from '../../src/tasks/task.js';
import type { TestAccount } from '../support/gateway.js';
import type { PollPlan, SubmitPlan } from '../support/job-provider.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';
import { DAY_MS } from '../../src/common/time/spans.js';

const CREDIT = 1_000_000n;
const WEEK_MS = 7 * DAY_MS;
let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
  harness.provider.state = { status: 'running', progress: 10 };
});

async function heldIs(heldMicroUsd: bigint): Promise<void> {
  const { available, held } = await harness.gateway.balance(account.accountId);
  expect({ available, held }).toEqual({ available: CREDIT - heldMicroUsd, held: heldMicroUsd });
}

describe('the state of a task', () => {
  it('is shown to its caller as one of six words (TASK-04)', async () => {
    const shown = async (task: Task): Promise<unknown> =>
      ((await (await harness.get(account, task)).json()) as { status: unknown }).status;
    const submit = (plan: SubmitPlan) => harness.submit(account, { plan, name: `shown ${plan}` });
    const refused = await submit('refuse');
    const lost = await submit('reset');
    const finished = await submit('done');
    const late = await submit('accept');
    await harness.overdue(late);
    await harness.run();
    const underWay = await submit('accept');
    await harness.run();
    const fresh = await submit('accept');
    const words = await Promise.all(
      [fresh, underWay, finished, refused, late, lost].map((task) => shown(task)),
    );
    expect(words).toEqual([
      'queued',
      'processing',
      'succeeded',
      'failed',
      'expired',
      'reconciliation_required',
    ]);
  });
});

describe('a submission', () => {
  it.each([
    ['refuse', 'failed'],
    ['own-500', 'failed'],
    ['bad-gateway', 'reconciliation_required'],
    ['html', 'reconciliation_required'],
    ['empty', 'reconciliation_required'],
    ['reset', 'reconciliation_required'],
    ['hang', 'reconciliation_required'],
    ['crash', 'reconciliation_required'],
  ] satisfies [SubmitPlan, TaskStatus][])(
    'that is answered with "%s" is sent once and leaves the task %s (TASK-22, TASK-23)',
    async (plan, status) => {
      const task = await harness.submit(account, { plan, name: plan });
      await harness.run(3);
      const now = await harness.read(task);
      expect(now).toMatchObject({ status, chargedMicroUsd: null, result: null });
      expect(now.completedAt).toBeInstanceOf(Date);
      expect(now.error?.code).toBe(status === 'failed' ? 'provider_task_failed' : undefined);
      expect(harness.provider.submissions.get(plan)).toBe(1);
      await heldIs(status === 'failed' ? 0n : JOB_PRICE);
    },
  );

  it('that is put off is sent again until it is taken', async () => {
    const task = await harness.submit(account, { name: 'busy' });
    harness.provider.plans.push('busy', 'busy', 'busy');
    await harness.run(3);
    expect(await harness.read(task)).toMatchObject({ status: 'queued' });
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    expect(harness.provider.jobsOf('busy')).toBe(1);
  });

  it('that is put off for ten minutes fails and is free', async () => {
    const task = await harness.submit(account, { plan: 'busy' });
    await harness.run();
    await harness.gateway.dataSource.query(
      `UPDATE task_work SET put_off_at = now() - interval '10 minutes' WHERE task_id = $1`,
      [task.id],
    );
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'failed' });
    await heldIs(0n);
  });

  it('whose worker died after the mark is never sent again (TASK-22, G-53)', async () => {
    const task = await harness.submit(account, { name: 'orphan' });
    await harness.gateway.dataSource.query(
      `UPDATE task_work SET phase = 'submitting', fence = fence + 1 WHERE task_id = $1`,
      [task.id],
    );
    await harness.run(2);
    expect(await harness.read(task)).toMatchObject({ status: 'reconciliation_required' });
    expect(harness.provider.submissions.has('orphan')).toBe(false);
    await heldIs(JOB_PRICE);
  });
});

describe('a poll', () => {
  it.each<PollPlan>([
    { status: 'a state nobody knows' },
    { status: 'running', broken: 'html' },
    { status: 'running', broken: '500' },
    { status: 'running', broken: '404' },
    { status: 'running', broken: 'reset' },
    { status: 'running', broken: 'hang' },
  ])('that says %j is asked again', async (state) => {
    const task = await harness.submit(account);
    await harness.run();
    harness.provider.state = state;
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    harness.provider.state = { status: 'done', result: { url: 'x' } };
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
  });

  it.each([
    ['success without a readable result', { status: 'done' }],
    ['a handler that crashes', { status: 'crash' }],
  ])('that meets %s five times in a row needs an operator', async (_name, state) => {
    const task = await harness.submit(account);
    await harness.run();
    harness.provider.state = state;
    await harness.run(4);
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    harness.provider.state = { status: 'running' };
    await harness.run();
    harness.provider.state = state;
    await harness.run(4);
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'reconciliation_required' });
    await heldIs(JOB_PRICE);
  });
});

describe('the deadline', () => {
  it.each([
    ['is not done', { status: 'running' }, 'expired'],
    ['does not know the job', { status: '', broken: '404' }, 'expired'],
    ['has failed', { status: 'failed' }, 'failed'],
    ['has succeeded', { status: 'done', result: { url: 'x' } }, 'succeeded'],
    ['is unreachable', { status: '', broken: 'reset' }, 'reconciliation_required'],
    ['tells no readable result', { status: 'done' }, 'reconciliation_required'],
  ] satisfies [string, PollPlan, TaskStatus][])(
    'of a task whose provider %s (%j) ends it as %s (TASK-21, G-53)',
    async (_name, state, status) => {
      const task = await harness.submit(account);
      await harness.run();
      harness.provider.state = state;
      await harness.overdue(task);
      await harness.run();
      const now = await harness.read(task);
      expect(now).toMatchObject({ status, completedAt: expect.any(Date) });
      if (status !== 'failed') expect(now.error).toBeNull();
      if (status === 'expired') await heldIs(0n);
      if (status === 'reconciliation_required') await heldIs(JOB_PRICE);
    },
  );

  it('of a task that was never sent ends it as expired', async () => {
    const task = await harness.submit(account, { name: 'never sent' });
    await harness.overdue(task);
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'expired', error: null });
    expect(harness.provider.submissions.has('never sent')).toBe(false);
    await heldIs(0n);
  });

  it('of a task whose upstream is configured no more needs an operator, of the sandbox none', async () => {
    const [kept, played] = [await harness.submit(account), await harness.submit(account)];
    await harness.run();
    for (const task of [kept, played]) {
      await harness.gateway.dataSource.query(
        `UPDATE task SET provider_base_url = 'http://elsewhere.example', on_sandbox = $2 WHERE id = $1`,
        [task.id, task === played],
      );
    }
    await harness.run();
    expect(await harness.read(kept)).toMatchObject({ status: 'processing' });
    for (const task of [kept, played]) await harness.overdue(task);
    await harness.run();
    expect(await harness.read(kept)).toMatchObject({ status: 'reconciliation_required' });
    expect(await harness.read(played)).toMatchObject({ status: 'expired' });
  });
});

describe('after the end', () => {
  it.each([
    [{ status: 'done', result: { url: 'x' } }, 'succeeded', 'succeeded', JOB_PRICE],
    [{ status: 'failed' }, 'failed', 'failed', null],
    [{ status: 'running' }, 'reconciliation_required', 'pending', null],
    [{ status: 'done' }, 'reconciliation_required', 'unreadable', null],
  ] satisfies [PollPlan, TaskStatus, string, bigint | null][])(
    'a task with an unknown outcome whose provider says %j later is %s',
    async (state, status, evidence, chargedMicroUsd) => {
      const task = await harness.submit(account);
      await harness.run();
      harness.provider.state = { status: '', broken: 'reset' };
      await harness.overdue(task);
      await harness.run();
      harness.provider.state = state;
      await harness.run(2);
      expect(await harness.read(task)).toMatchObject({
        ...{ status, chargedMicroUsd },
        evidence: { status: evidence, seenAt: expect.any(Date) },
      });
      const held = status === 'reconciliation_required' ? JOB_PRICE : 0n;
      const paid = chargedMicroUsd ?? 0n;
      const money = await harness.gateway.balance(account.accountId);
      expect(money).toMatchObject({ available: CREDIT - held - paid, held });
    },
  );

  it('the provider is polled for seven days and no longer', async () => {
    const task = await harness.submit(account);
    await harness.run();
    await harness.overdue(task);
    await harness.run();
    await harness.gateway.dataSource.query(
      `UPDATE task SET completed_at = completed_at - $2 * interval '1 ms' WHERE id = $1`,
      [task.id, WEEK_MS],
    );
    await harness.run();
    const work = await harness.gateway.dataSource.query<unknown[]>(
      `SELECT FROM task_work WHERE task_id = $1`,
      [task.id],
    );
    expect(work).toEqual([]);
  });
});
