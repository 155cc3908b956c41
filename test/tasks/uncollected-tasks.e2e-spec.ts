import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TaskCollection } from '../../src/tasks/collection/task-collection.js';
import type { Task } from '../../src/tasks/task.js';
import type { TestAccount } from '../support/gateway.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 1_000_000n;
const CHARGE = 500n;

let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
});

/** A task that has failed and whose job the provider finishes afterwards. */
async function finishedLate(): Promise<Task> {
  harness.provider.state = { status: 'running' };
  const task = await harness.submit(account);
  await harness.run();
  harness.provider.state = { status: 'failed' };
  await harness.run();
  harness.provider.state = { status: 'done', result: { url: 'https://media.example/late' } };
  return harness.read(task);
}
const collect = (task: Task, charge?: bigint) =>
  harness.gateway.app.get(TaskCollection).collect(task.id, charge);

describe('a finished job that is not collected', () => {
  it('was refused because the hold of its task is no longer on record: a charge has nothing to replace', async () => {
    const task = await finishedLate();
    const { dataSource } = harness.gateway;
    await dataSource.query(`DELETE FROM hold WHERE id = $1`, [task.id]);
    await expect(collect(task, CHARGE)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/hold .* no longer on record.* collected without a charge/),
    });
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({
      available: CREDIT,
      held: 0n,
    });
    expect(await collect(task)).toMatchObject({ status: 'succeeded', chargedMicroUsd: 0n });
  });

  it.each([CHARGE, undefined])(
    'was refused because the record of its task was dropped meanwhile, with the charge %s',
    async (charge) => {
      const task = await finishedLate();
      const { polls } = harness.provider;
      const runner = harness.gateway.dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.query(`DELETE FROM task WHERE id = $1`, [task.id]);
      await runner.query(`DELETE FROM hold WHERE id = $1`, [task.id]);
      const refusal = collect(task, charge).catch((error: unknown) => error);
      while (harness.provider.polls === polls) await sleep(5);
      await runner.commitTransaction();
      await runner.release();
      expect(await refusal).toMatchObject({
        code: 'conflict',
        message: 'The record of the task has been dropped meanwhile.',
      });
    },
  );

  it('was refused because the balance cannot cover the charge', async () => {
    const task = await finishedLate();
    const setTo = (posted: bigint) =>
      harness.gateway.dataSource.query(`UPDATE account SET posted = $2 WHERE id = $1`, [
        account.accountId,
        String(posted),
      ]);
    await setTo(CHARGE - 1n);
    await expect(collect(task, CHARGE)).rejects.toMatchObject({
      message: expect.stringMatching(/balance of the account cannot cover/),
    });
    await setTo(CREDIT);
    expect(await collect(task, CHARGE)).toMatchObject({ chargedMicroUsd: CHARGE });
  });
});
