import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { StopSource } from '../../src/common/stop-signal.js';
import { LEASE_MS } from '../../src/tasks/task-lane.js';
import type { Task } from '../../src/tasks/task.js';
import { SubmitStep } from '../../src/tasks/worker/submit-step.js';
import { ReportBatcher } from '../../src/tasks/worker/report-batcher.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import type { TestAccount } from '../support/gateway.js';
import type { PollPlan } from '../support/job-provider.js';
import { withWatchedStatements } from '../support/watched-statements.js';
import { JOB_PRICE, startBeside, startTaskDesk, type TaskDesk } from '../support/task-desk.js';

const CREDIT = 1_000_000n;
/** Longer than the first renewal of a lease takes to come. */
const ANSWER_MS = 60_000;
let desk: TaskDesk;
let beside: TaskDesk;
let account: TestAccount;

beforeAll(async () => {
  desk = await startTaskDesk(() => ({}), ANSWER_MS);
  beside = await startBeside(desk);
});
afterAll(async () => {
  await beside.stop();
  await desk.stop();
});
beforeEach(async () => {
  account = await desk.gateway.account(CREDIT);
  desk.provider.state = { status: 'done', result: { url: 'x' } };
});

interface Late {
  readonly task: Task;
  /** The provider accepts the task; resolves when that is reported. */
  accept(): Promise<void>;
}

/** Submits a task whose lease ends before the provider accepts it. */
async function submitted(name: string): Promise<Late> {
  const task = await desk.submit(account, { name });
  const gate = new EventTarget();
  desk.provider.held = new Promise((resolve) => {
    gate.addEventListener('open', resolve, { once: true });
  });
  const step = desk.step();
  while (!desk.provider.submissions.has(name)) await sleep(5);
  await desk.hurry();
  return {
    task,
    async accept() {
      gate.dispatchEvent(new Event('open'));
      await step;
    },
  };
}

/** Another process takes it over. */
async function takenOver({ task }: Late): Promise<void> {
  await beside.step();
  expect(await desk.read(task)).toMatchObject({
    status: 'reconciliation_required',
    providerJobId: null,
  });
}

/** Resolves after the next renewal of leases here. */
async function renewal(task: Task): Promise<void> {
  let hasBegun = false;
  const hear = (name: string | undefined) => {
    hasBegun ||= name === 'task_advance';
  };
  await withWatchedStatements(desk.gateway.app.get(DataSource), hear, async () => {
    while (!hasBegun) await sleep(20);
  });
  // Reports are written one statement after the other.
  const stale = { accountId: task.accountId, taskId: task.id, fence: '-1', delayMs: 0 };
  expect(await desk.gateway.app.get(ReportBatcher).advance(stale)).toBe(false);
}

async function expectWatched(task: Task, name: string): Promise<void> {
  const known = await desk.read(task);
  expect(known).toMatchObject({ status: 'reconciliation_required', chargedMicroUsd: null });
  expect(desk.provider.jobs.get(known.providerJobId ?? '')).toBe(name);
  await desk.run();
  expect(await desk.read(task)).toMatchObject({
    status: 'reconciliation_required',
    result: null,
    evidence: { status: 'succeeded', seenAt: expect.any(Date) },
  });
  expect(desk.provider.submissions.get(name)).toBe(1);
}

describe('a submission that is accepted after another process took the task over', () => {
  it('names its job, which is watched: the operator sees what the provider says', async () => {
    const late = await submitted('late id');
    await takenOver(late);
    await late.accept();
    await expectWatched(late.task, 'late id');
    const { available, held } = await desk.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: CREDIT - JOB_PRICE, held: JOB_PRICE });
  });

  it('is not cut off when its worker finds that the lease is lost', async () => {
    const late = await submitted('renewed late');
    await takenOver(late);
    await renewal(late.task);
    await late.accept();
    await expectWatched(late.task, 'renewed late');
  });

  it('has its job watched, too, where the other process ends the task only afterwards', async () => {
    const late = await submitted('between');
    const asked = { rooms: new Map<string, number>(), holdings: [], mine: [], leaseMs: LEASE_MS };
    const [work] = await beside.gateway.app.get(TaskWorkRepository).claim(asked);
    await late.accept();
    expect(await desk.read(late.task)).toMatchObject({ status: 'queued' });
    await beside.gateway.app.get(SubmitStep).run(work!, new StopSource());
    await expectWatched(late.task, 'between');
  });
});

describe('a success after the task has ended without one', () => {
  const lateSuccesses = async () => {
    const metrics = await (await fetch(`${desk.gateway.url}/metrics`)).text();
    return Number(/late_successes_total\{kind="job"\} (\d+)/.exec(metrics)?.[1] ?? 0);
  };
  const phases = (task: Task) =>
    desk.gateway.dataSource.query<unknown[]>(`SELECT phase FROM task_work WHERE task_id = $1`, [
      task.id,
    ]);

  async function ended(status: 'failed' | 'expired'): Promise<Task> {
    const task = await desk.submit(account);
    desk.provider.state = { status: 'running', progress: 10 };
    await desk.run();
    if (status === 'failed') desk.provider.state = { status };
    else await desk.overdue(task);
    await desk.run();
    expect(await desk.read(task)).toMatchObject({ status });
    expect(await phases(task)).toEqual([{ phase: 'watching' }]);
    return task;
  }

  it.each(['failed', 'expired'] as const)(
    'is counted where it had %s, and changes nothing',
    async (status) => {
      const task = await ended(status);
      const before = await lateSuccesses();
      desk.provider.state = { status: 'done', result: { url: 'x' } };
      await desk.run();
      expect(await lateSuccesses()).toBe(before + 1);
      expect(await desk.read(task)).toMatchObject({ status, result: null });
      expect((await desk.gateway.balance(account.accountId)).available).toBe(CREDIT);
      expect(await phases(task)).toEqual([]);
    },
  );

  it.each<[string, PollPlan]>([
    ['says again that the job failed', { status: 'failed' }],
    ['does not know the job any more', { status: 'failed', broken: '404' }],
  ])('is looked for once where the provider %s', async (_what, state) => {
    const task = await ended('failed');
    desk.provider.state = state;
    await desk.run();
    expect(await phases(task)).toEqual([]);
  });

  it('is looked for again where the provider did not answer', async () => {
    const task = await ended('failed');
    desk.provider.state = { status: 'failed', broken: '500' };
    await desk.run();
    expect(await phases(task)).toEqual([{ phase: 'watching' }]);
  });
});
