import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Reversals } from '../../src/billing/recovery/reversals.js';
import type { Task } from '../../src/tasks/task.js';
import type { TestAccount } from '../support/gateway.js';
import type { SubmitPlan } from '../support/job-provider.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 1_000_000n;
const WEBHOOK = { url: 'https://example.com/hook', secret: 'a-secret-of-16-letters' };
const CANCELLED = { status: 'failed', error: { code: 'task_cancelled' } };

let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.stop();
});
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
});

/** Its submission was answered with 503, so that it must hold and cost nothing. */
async function cancelOwed({ id: taskId, accountId }: Task): Promise<void> {
  const owed = harness.gateway.app.get(Reversals);
  owed.add({ taskId, accountId });
  await owed.flush();
  expect(owed.size).toBe(0);
}

const deliveriesOf = ({ id }: Task) =>
  harness.gateway.dataSource.query<{ status: string; body: Buffer }[]>(
    'SELECT status, body FROM webhook_delivery WHERE owner_id = $1 ORDER BY id',
    [id],
  );

describe('the reversal of a task', () => {
  it.each<[string, SubmitPlan, number, string[]]>([
    ['before it was sent', 'accept', 0, ['pending']],
    ['at its provider', 'accept', 1, ['pending']],
    ['when its outcome is unknown', 'html', 1, ['failed', 'pending']],
  ])(
    'tells its end and tries no older delivery any more: %s',
    async (_when, plan, steps, deliveries) => {
      const task = await harness.submit(account, { plan, webhook: WEBHOOK });
      await harness.run(steps);
      await cancelOwed(task);
      await cancelOwed(task);
      await harness.run();
      const told = await deliveriesOf(task);
      expect(told.map(({ status }) => status)).toEqual(deliveries);
      const answer = await harness.get(account, task);
      const shown = await answer.text();
      expect(JSON.parse(shown)).toMatchObject(CANCELLED);
      expect(told.at(-1)?.body.toString()).toBe(shown);
      expect(await harness.gateway.balance(account.accountId)).toMatchObject({
        available: CREDIT,
        held: 0n,
      });
    },
  );

  it('of one that has succeeded reverses its charge once, and sends no further webhook', async () => {
    harness.provider.state = { status: 'done', result: { url: 'x' } };
    const task = await harness.submit(account, { webhook: WEBHOOK });
    await harness.run(2);
    await cancelOwed(task);
    await cancelOwed(task);
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
    expect(await deliveriesOf(task)).toHaveLength(1);
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({
      available: CREDIT,
      held: 0n,
    });
  });
});
