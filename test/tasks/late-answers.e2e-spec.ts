import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LEASE_MS } from '../../src/tasks/task-lane.js';
import type { Task } from '../../src/tasks/task.js';
import { SubmitStep } from '../../src/tasks/worker/submit-step.js';
import { ReportBatcher } from '../../src/tasks/worker/report-batcher.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import type { TestAccount } from '../support/gateway.js';
import type { PollPlan } from '../support/job-provider.js';
import { withWatchedStatements } from '../support/watched-statements.js';
import {
  JOB_PRICE,
  startBeside,
  startTaskHarness,
  type TaskHarness,
} from '../support/task-harness.js';

const CREDIT = 1_000_000n;
/** Longer than the first renewal of a lease takes to come. */
const ANSWER_MS = 60_000;
let harness: TaskHarness;
let beside: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness(() => ({}), ANSWER_MS);
  beside = await startBeside(harness);
});
afterAll(async () => {
  await beside.stop();
  await harness.stop();
});
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
  harness.provider.state = { status: 'done', result: { url: 'x' } };
});

interface Late {
  readonly task: Task;
  /** The provider accepts the task; resolves when that is reported. */
  accept(): Promise<void>;
}

/** Submits a task whose lease ends before the provider accepts it. */
async function submitted(name: string): Promise<Late> {
  const task = await harness.submit(account, { name });
  const gate = new EventTarget();
  harness.provider.held = new Promise((resolve) => {
    gate.addEventListener('open', resolve, { once: true });
  });
  const step = harness.step();
  while (!harness.provider.submissions.has(name)) await sleep(5);
  await harness.hurry();
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
  expect(await harness.read(task)).toMatchObject({
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
  await withWatchedStatements(harness.gateway.app.get(DataSource), hear, async () => {
    while (!hasBegun) await sleep(20);
  });
  // Reports are written one statement after the other.
  const stale = { accountId: task.accountId, taskId: task.id, fence: '-1', delayMs: 0 };
  expect(await harness.gateway.app.get(ReportBatcher).advance(stale)).toBe(false);
}

async function expectFound(task: Task, name: string): Promise<void> {
  const known = await harness.read(task);
  expect(known).toMatchObject({ status: 'reconciliation_required', chargedMicroUsd: null });
  expect(harness.provider.jobs.get(known.providerJobId ?? '')).toBe(name);
  await harness.run();
  expect(await harness.read(task)).toMatchObject({
    status: 'succeeded',
    result: { url: 'x' },
    chargedMicroUsd: JOB_PRICE,
    evidence: { status: 'succeeded', seenAt: expect.any(Date) },
  });
  expect(harness.provider.submissions.get(name)).toBe(1);
}

describe('a submission that is accepted after another process took the task over', () => {
  it('names its job, by which the task is decided', async () => {
    const late = await submitted('late id');
    await takenOver(late);
    await late.accept();
    await expectFound(late.task, 'late id');
    const { available, held } = await harness.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: CREDIT - JOB_PRICE, held: 0n });
  });

  it('is not cut off when its worker finds that the lease is lost', async () => {
    const late = await submitted('renewed late');
    await takenOver(late);
    await renewal(late.task);
    await late.accept();
    await expectFound(late.task, 'renewed late');
  });

  it('is decided by its job, too, where the other process ends the task only afterwards', async () => {
    const late = await submitted('between');
    const asked = {
      available: new Map<string, number>(),
      inUse: [],
      runningIds: [],
      leaseMs: LEASE_MS,
    };
    const [work] = await beside.gateway.app.get(TaskWorkRepository).claim(asked);
    await late.accept();
    expect(await harness.read(late.task)).toMatchObject({ status: 'queued' });
    await beside.gateway.app.get(SubmitStep).run(work!, new AbortController().signal);
    await expectFound(late.task, 'between');
  });
});

describe('a success after the task has ended without one', () => {
  const lateSuccesses = async () => {
    const metrics = await (await fetch(`${harness.gateway.url}/metrics`)).text();
    return Number(/late_successes_total\{kind="job"\} (\d+)/.exec(metrics)?.[1] ?? 0);
  };
  const phases = (task: Task) =>
    harness.gateway.dataSource.query<unknown[]>(`SELECT phase FROM task_work WHERE task_id = $1`, [
      task.id,
    ]);

  async function ended(status: 'failed' | 'expired'): Promise<Task> {
    const task = await harness.submit(account);
    harness.provider.state = { status: 'running', progress: 10 };
    await harness.run();
    if (status === 'failed') harness.provider.state = { status };
    else await harness.overdue(task);
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status });
    expect(await phases(task)).toEqual([{ phase: 'watching' }]);
    return task;
  }

  it.each(['failed', 'expired'] as const)(
    'is counted where it had %s, and changes nothing',
    async (status) => {
      const task = await ended(status);
      const before = await lateSuccesses();
      harness.provider.state = { status: 'done', result: { url: 'x' } };
      await harness.run();
      expect(await lateSuccesses()).toBe(before + 1);
      expect(await harness.read(task)).toMatchObject({ status, result: null });
      expect((await harness.gateway.balance(account.accountId)).available).toBe(CREDIT);
      expect(await phases(task)).toEqual([]);
    },
  );

  it.each<[string, PollPlan]>([
    ['says again that the job failed', { status: 'failed' }],
    ['does not know the job any more', { status: 'failed', broken: '404' }],
  ])('is looked for once where the provider %s', async (_what, state) => {
    const task = await ended('failed');
    harness.provider.state = state;
    await harness.run();
    expect(await phases(task)).toEqual([]);
  });

  it('is looked for again where the provider did not answer', async () => {
    const task = await ended('failed');
    harness.provider.state = { status: 'failed', broken: '500' };
    await harness.run();
    expect(await phases(task)).toEqual([{ phase: 'watching' }]);
  });
});
