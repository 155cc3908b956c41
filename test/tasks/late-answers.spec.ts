import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Task } from '../../src/tasks/task.js';
import type { TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startBeside, startTaskDesk, type TaskDesk } from '../support/task-desk.js';

const CREDIT = 1_000_000n;
let desk: TaskDesk;
let beside: TaskDesk;
let account: TestAccount;

beforeAll(async () => {
  desk = await startTaskDesk();
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

/** Submits a task whose lease ends, and which another process takes over, before the provider accepts it. */
async function takenOver(name: string): Promise<Task> {
  const task = await desk.submit(account, { name });
  const gate = new EventTarget();
  desk.provider.held = new Promise((resolve) => {
    gate.addEventListener('open', resolve, { once: true });
  });
  const step = desk.step();
  while (!desk.provider.submissions.has(name)) await sleep(5);
  await desk.hurry();
  await beside.step();
  expect(await desk.read(task)).toMatchObject({
    status: 'reconciliation_required',
    providerJobId: null,
  });
  gate.dispatchEvent(new Event('open'));
  await step;
  return task;
}

describe('a submission that is accepted after another process took the task over', () => {
  it('names its job, which is watched: the operator sees what the provider says', async () => {
    const task = await takenOver('late id');
    const known = await desk.read(task);
    expect(known).toMatchObject({ status: 'reconciliation_required', chargedMicroUsd: null });
    expect(desk.provider.jobs.get(known.providerJobId ?? '')).toBe('late id');
    await desk.run();
    expect(await desk.read(task)).toMatchObject({
      status: 'reconciliation_required',
      result: null,
      evidence: { status: 'succeeded', seenAt: expect.any(Date) },
    });
    const { available, held } = await desk.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: CREDIT - JOB_PRICE, held: JOB_PRICE });
    expect(desk.provider.submissions.get('late id')).toBe(1);
  });
});
