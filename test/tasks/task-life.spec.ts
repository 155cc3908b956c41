import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startTaskDesk, type TaskDesk } from '../support/task-desk.js';

const CREDIT = 1_000_000n;
let desk: TaskDesk;
let account: TestAccount;

beforeAll(async () => {
  desk = await startTaskDesk();
});
afterAll(() => desk.stop());
beforeEach(async () => {
  account = await desk.gateway.account(CREDIT);
  desk.provider.state = { status: 'done', progress: 100, result: { url: 'https://m.example/a' } };
});

describe('the life of a task', () => {
  it('is queued with its price held, then processing, then succeeded and charged (TASK-16)', async () => {
    const task = await desk.submit(account);
    expect(await desk.read(task)).toEqual({ ...task, status: 'queued' });
    expect(await desk.gateway.balance(account.accountId)).toMatchObject({ held: JOB_PRICE });
    desk.provider.state = { status: 'running', progress: 40 };
    await desk.run();
    expect(await desk.read(task)).toMatchObject({ status: 'processing', progress: null });
    await desk.run();
    expect(await desk.read(task)).toMatchObject({ status: 'processing', progress: 40 });
    desk.provider.state = { status: 'done', progress: 100, result: { url: 'x' } };
    await desk.run();
    const ended = await desk.read(task);
    expect(ended).toMatchObject({
      status: 'succeeded',
      progress: 100,
      result: { url: 'x' },
      chargedMicroUsd: JOB_PRICE,
    });
    expect(await desk.gateway.balance(account.accountId)).toMatchObject({
      available: CREDIT - JOB_PRICE,
      held: 0n,
    });
    await desk.gateway.provesClean();
  });
});
