import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dataSourceWithPlans } from '../../../test/support/explain-plans.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  balanceOf,
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { maintenanceConnectionOf } from '../../platform/database/data-source.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { type ListedHold, OpenHolds, type OpenHoldQuery } from './open-holds.js';

const ENDED = 10_000;
const MODELS = ['aud-v3', 'aud-v4'] as const;

let database: TestDatabase;
let ledger: TestLedger;
let holds: OpenHolds;

beforeAll(async () => {
  database = await createTestDatabase();
  ledger = ledgerOf(database.dataSource);
  holds = new OpenHolds(database.dataSource);
  await ledger.process.heartbeat();
});
afterAll(() => database.drop());

/** All pages, of at most two rows each. */
async function allOf(query: Omit<OpenHoldQuery, 'limit' | 'cursor'>): Promise<ListedHold[]> {
  const found: ListedHold[] = [];
  let cursor: string | undefined;
  do {
    const page = await holds.list({ ...query, limit: 2, cursor });
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** A task that holds money, as its submission leaves it. */
async function openTask(accountId: string, amount: bigint, status: string): Promise<string> {
  const id = uuidV7(Date.now());
  await database.dataSource.query(`SELECT ledger_hold($1, $2, $3, 'task')`, [
    accountId,
    id,
    amount,
  ]);
  await database.dataSource.query(
    `INSERT INTO task (account_id, id, kind, modality, model, status, details, provider, provider_base_url, on_sandbox,
                       upstream_model, reserved, completed_at)
     VALUES ($1, $2, 'video', 'video', 'vid-omni', $3, '{}', 'p', 'http://p', false, 'm', $4,
             CASE WHEN $3 = 'reconciliation_required' THEN now() END)`,
    [accountId, id, status, amount],
  );
  return id;
}

describe('OpenHolds', () => {
  it('lists exactly what is open, oldest first, whatever began, was swept and ended', async () => {
    const act = fc.record({
      account: fc.nat(1),
      model: fc.constantFrom(...MODELS),
      amount: fc.bigInt({ min: 1n, max: 50n }),
      end: fc.constantFrom('none', 'succeeded', 'failed'),
      sweeps: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 12 }), async (acts) => {
        const accounts = [
          await fundedAccount(database.dataSource, 10_000n),
          await fundedAccount(database.dataSource, 10_000n),
        ] as const;
        const open: { id: string; account: string; model: string; amount: bigint }[] = [];
        for (const { account: nr, model, amount, end, sweeps } of acts) {
          const account = accounts[nr === 0 ? 0 : 1];
          const start = { ...startOf(account, amount), model };
          await ledger.executions.begin(start);
          if (sweeps) await ledger.sweeper.tick();
          const { executionId } = start;
          if (end === 'succeeded') await ledger.executions.succeed(start, successOf(amount));
          else if (end === 'failed') await ledger.executions.fail(start, FAILURE);
          else open.push({ id: executionId, account, model, amount });
        }
        for (const account of accounts) {
          const task = await openTask(account, 7n, 'reconciliation_required');
          open.push({ id: task, account, model: 'vid-omni', amount: 7n });
          const own = open.filter((hold) => hold.account === account);
          const found = await allOf({ accountId: account });
          expect(found.map(({ id }) => id)).toEqual(own.map(({ id }) => id).sort());
          const sum = found.reduce((total, { amountMicroUsd }) => total + amountMicroUsd, 0n);
          expect((await balanceOf(database.dataSource, account))[1]).toBe(sum);
          const ofModel = await allOf({ accountId: account, model: 'aud-v3' });
          expect(ofModel).toEqual(found.filter(({ model }) => model === 'aud-v3').map(sameButAge));
          const ofTasks = await allOf({ accountId: account, holder: 'task' });
          expect(ofTasks.map(({ id }) => id)).toEqual([task]);
          expect(await allOf({ accountId: account, createdBefore: new Date(0) })).toEqual([]);
        }
      }),
      { numRuns: 8 },
    );
  });

  it('reads no table of calls, tasks or holds whole', async () => {
    const account = await fundedAccount(database.dataSource, 1_000n);
    const patient = await maintenanceConnectionOf(database.dataSource).initialize();
    await patient.query(
      `INSERT INTO execution (account_id, id, process_id, created_at, held, model, endpoint, status, completed_at, charged)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), now() - interval '1 day', 10, 'm', '/v1/x', 'succeeded', now(), 10
         FROM generate_series(1, $2::int) n`,
      [account, ENDED],
    );
    await patient.query(`SELECT brin_summarize_new_values('execution_by_time')`);
    await patient.query('ANALYZE execution, task, hold');
    await patient.destroy();
    await ledger.executions.begin(startOf(account, 3n));
    const plans: string[] = [];
    const dataSource = await dataSourceWithPlans(database.url, (_text, plan) => plans.push(plan));
    for (const query of [
      {},
      { accountId: account },
      { model: 'aud-v4' },
      { holder: 'task' as const },
    ])
      await new OpenHolds(dataSource).list({ ...query, limit: 20 });
    await dataSource.destroy();
    const reading = plans.filter((plan) => plan.includes('execution'));
    expect(reading).toHaveLength(4);
    for (const plan of reading) {
      expect(plan).not.toMatch(/Seq Scan on (execution|task|hold)/);
      expect(plan).toMatch(/Bitmap Index Scan on execution_by_time/);
    }
  });
});

const sameButAge = (hold: ListedHold) => ({ ...hold, ageSeconds: expect.any(Number) });
