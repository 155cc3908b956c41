import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { ProcessLease } from '../../src/billing/recovery/process-lease.js';
import { Reversals } from '../../src/billing/recovery/reversals.js';
import type { TestAccount } from '../support/gateway.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 1_000_000n;
type Query = (config: unknown, ...rest: unknown[]) => Promise<unknown>;
/** What one try of the submission comes to; `query` sends it. */
type Try = (query: () => Promise<unknown>) => Promise<unknown>;

let harness: TaskHarness;
let account: TestAccount;
let pool: Pool;
let query: Query;

beforeAll(async () => {
  harness = await startTaskHarness();
  ({ master: pool } = harness.gateway.app.get(DataSource).driver as unknown as { master: Pool });
  query = pool.query.bind(pool);
});
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.stop();
});
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
});
afterEach(() => {
  Object.assign(pool, { query });
});

const broken = (code: string) => Object.assign(new Error(code), { code });
/** The statement is committed, but its answer never comes. */
const unseen: Try = async (send) => {
  await send();
  throw broken('ECONNRESET');
};
const away: Try = () => Promise.reject(broken('ECONNREFUSED'));

/** {@link unseen}, and then the database is away for readers too. */
const unseenBeforeOutage: Try = async (send) => {
  await send();
  const connect = pool.connect.bind(pool);
  Object.assign(pool, {
    connect: (done: (error: Error) => void) => {
      done(broken('ECONNREFUSED'));
    },
  });
  mend = () => Object.assign(pool, { connect });
  throw broken('ECONNRESET');
};
let mend: () => void = () => undefined;

/** The next submission goes as these tries say, the last of them as often as it takes. */
function tries(...plan: readonly Try[]): void {
  triesOf('task_submit_v2', plan);
}

/** {@link tries}, for any statement. */
function triesOf(statement: string, plan: readonly Try[]): void {
  let count = 0;
  Object.assign(pool, {
    query: (config: unknown, ...rest: unknown[]) => {
      const send = () => query(config, ...rest);
      if ((config as { name?: string }).name !== statement) return send();
      count += 1;
      return plan[Math.min(count, plan.length) - 1]!(send);
    },
  });
}

const owed = () => harness.gateway.app.get(Reversals);
const tasksOf = ({ accountId }: TestAccount) =>
  harness.gateway.dataSource.query<{ id: string; status: string; error_code: string | null }[]>(
    `SELECT id, status, error_code FROM task WHERE account_id = $1`,
    [accountId],
  );
const refused = (submission: Promise<unknown>) =>
  expect(submission).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });

describe('a claim of a key whose answer is lost', () => {
  it('is sent again and accepted', async () => {
    triesOf('idempotency_claim_sent', [unseen, (send) => send()]);
    const task = await harness.submit(account, { key: 'claim-unseen' });
    expect(await tasksOf(account)).toMatchObject([{ id: task.id, status: 'queued' }]);
    expect((await harness.submit(account, { key: 'claim-unseen' })).id).toBe(task.id);
    await harness.run(2);
  });

  it('is given up when no answer comes, so that the key is free at once', async () => {
    triesOf('idempotency_claim_sent', [unseen, away]);
    const submission = harness.submit(account, { key: 'claim-given-up' });
    await expect(submission).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    Object.assign(pool, { query });
    const keys = await harness.gateway.dataSource.query<unknown[]>(
      `SELECT key FROM idempotency_key WHERE account_id = $1`,
      [account.accountId],
    );
    expect(keys).toEqual([]);
    await harness.submit(account, { key: 'claim-given-up' });
    await harness.run(2);
  });
});

describe('a submission whose answer is lost', () => {
  it('finds the task of its first try, which was committed while the second waited for the account', async () => {
    const { dataSource } = harness.gateway;
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [account.accountId]);
    const waiting = async (): Promise<number> => {
      const [row] = await dataSource.query<{ count: string }[]>(
        `SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%task_submit%'`,
      );
      return Number(row?.count);
    };
    const first: Try = async (send) => {
      void send();
      while ((await waiting()) < 1) await sleep(5);
      throw broken('ECONNRESET');
    };
    tries(first, (send) => send());
    const submitted = harness.submit(account);
    while ((await waiting()) < 2) await sleep(5);
    await runner.rollbackTransaction();
    await runner.release();
    const task = await submitted;
    expect(await tasksOf(account)).toMatchObject([{ id: task.id, status: 'queued' }]);
    await harness.run(2);
  });

  it('answers the task that stands, although every further try fails', async () => {
    tries(unseen, () => Promise.reject(broken('EMFILE')));
    const task = await harness.submit(account);
    expect(await tasksOf(account)).toMatchObject([{ id: task.id, status: 'queued' }]);
    expect(owed().size).toBe(0);
    await harness.run(2);
  });

  it('is 503 while it is unknown whether the task was recorded; then the task is cancelled and nothing is held', async () => {
    tries(unseenBeforeOutage, away);
    const lease = harness.gateway.app.get(ProcessLease);
    expect(lease.openCalls).toBe(0);
    await refused(harness.submit(account));
    expect([owed().size, lease.openCalls]).toEqual([1, 1]);
    mend();
    while (owed().size > 0) await sleep(20);
    expect(lease.openCalls).toBe(0);
    expect(await tasksOf(account)).toMatchObject([
      { status: 'failed', error_code: 'task_cancelled' },
    ]);
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({ held: 0n });
    const jobs = harness.provider.jobs.size;
    await harness.run();
    expect(harness.provider.jobs.size).toBe(jobs);
  });

  it('is 503, and arrives too late: its id is taken', async () => {
    let arrive: () => Promise<unknown> = () => Promise.resolve();
    const late: Try = (send) => {
      arrive = send;
      return Promise.reject(broken('ECONNRESET'));
    };
    tries(late, away);
    await refused(harness.submit(account));
    while (owed().size > 0) await sleep(20);
    await arrive();
    expect(await tasksOf(account)).toEqual([]);
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({ held: 0n });
  });

  it('is not cancelled where the caller has a key: the next request with it gets the task', async () => {
    tries(unseenBeforeOutage, away);
    await refused(harness.submit(account, { key: 'k' }));
    expect([owed().size, harness.gateway.app.get(ProcessLease).openCalls]).toEqual([0, 0]);
    mend();
    Object.assign(pool, { query });
    const task = await harness.submit(account, { key: 'k' });
    expect(await tasksOf(account)).toMatchObject([{ id: task.id, status: 'queued' }]);
    await harness.run(2);
  });

  it('leaves no trace where no try reached the database', async () => {
    tries(away);
    await expect(harness.submit(account)).rejects.toThrow('ECONNREFUSED');
    expect(owed().size).toBe(0);
  });
});
