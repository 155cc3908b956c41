import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { Reversals } from '../../src/billing/recovery/reversals.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';
import { withWatchedStatements } from '../support/watched-statements.js';

let harness: TaskHarness;
beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());

const outcomesOf = async (calls: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(calls)).map((outcome) =>
    outcome.status === 'fulfilled' ? 'made' : (outcome.reason as { code: string }).code,
  );

describe('submissions that share a statement', () => {
  it('are each held from what the ones before have left of the balance', async () => {
    const account = await harness.gateway.account(10n * JOB_PRICE + 1n);
    const outcomes = await outcomesOf(
      Array.from({ length: 200 }, () =>
        harness.submit(account, { name: `it's "quoted" {,} \\ é` }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'insufficient_funds')).toHaveLength(190);
    const { available, held } = await harness.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: 1n, held: 10n * JOB_PRICE });
  });

  it('do not fail with one that the database refuses', async () => {
    const [good, bad] = [await harness.gateway.account(), await harness.gateway.account()];
    await harness.gateway.dataSource.query(
      `ALTER TABLE task ADD CONSTRAINT not_of_this_one CHECK (account_id <> '${bad.accountId}')`,
    );
    try {
      const accounts = Array.from({ length: 40 }, (_, index) => (index === 20 ? bad : good));
      const calls = accounts.map((account) => harness.submit(account));
      const settled = await Promise.allSettled(calls);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(39);
      expect(settled[20]?.status).toBe('rejected');
      expect((await harness.gateway.balance(bad.accountId)).held).toBe(0n);
      expect((await harness.gateway.balance(good.accountId)).held).toBe(39n * JOB_PRICE);
    } finally {
      await harness.gateway.dataSource.query('ALTER TABLE task DROP CONSTRAINT not_of_this_one');
    }
  });

  it('are refused when the queue is full, and need no reversal', async () => {
    const account = await harness.gateway.account();
    let owed = 0;
    const full = (name: string | undefined) => {
      if (name === 'task_cancel') owed += 1;
      if (name === 'task_submit_v2') throw new GatewayError('service_unavailable', 'Too many.');
    };
    await withWatchedStatements(harness.gateway.app.get(DataSource), full, async () => {
      expect(await outcomesOf([harness.submit(account)])).toEqual(['service_unavailable']);
      expect(harness.gateway.app.get(Reversals, { strict: false }).size).toBe(0);
      expect(owed).toBe(0);
    });
  });

  it('of an account that is locked elsewhere wait, and those of others go on', async () => {
    const [locked, free] = [await harness.gateway.account(), await harness.gateway.account()];
    const runner = harness.gateway.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [locked.accountId]);
    const waiting = harness.submit(locked);
    const others = Array.from({ length: 20 }, () => harness.submit(free));
    await Promise.all(others);
    expect((await harness.gateway.balance(free.accountId)).held).toBe(20n * JOB_PRICE);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await waiting).toMatchObject({ status: 'queued' });
  });
});
