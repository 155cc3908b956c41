import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/support/database-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { until } from '../../../test/support/until.js';
import {
  accountsOf,
  balanceOf,
  FAILURE,
  freshFolder,
  fundedAccount,
  ledgerOf,
  endLease,
  startOf,
  successOf,
  type TestLedger,
  trust,
} from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { Clock } from '../../common/time/clock.js';
import { createDataSource } from '../../platform/database/data-source.js';
import { FAIL_PATIENCE_MS, SUCCEED_PATIENCE_MS } from './execution-ledger.js';
import type { ExecutionStart } from './execution-commands.js';

const FUNDS = 1_000_000n;

/** The machine's clock, which tests move forward. */
class SkippingClock extends Clock {
  skippedMs = 0;
  nowMs(): number {
    return Date.now() + this.skippedMs;
  }
}

describe('ExecutionLedger during database faults', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let proxy: DatabaseProxy;
  let far: DataSource;
  let ledger: LedgerService;
  let near: TestLedger;
  let start: ExecutionStart;
  const clock = new SkippingClock();

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    proxy = await startDatabaseProxy(process.env.TEST_SERVER_URL ?? '');
    far = await createDataSource({ url: proxy.through(database.url), poolSize: 4 }).initialize();
    ledger = new LedgerService(dataSource);
    near = ledgerOf(dataSource);
  });
  beforeEach(async () => {
    start = startOf(await fundedAccount(dataSource, FUNDS), 10n);
  });
  afterEach(async () => {
    expect(await auditLedger(dataSource)).toMatchObject({ ok: true, discrepancies: [] });
  });
  afterAll(async () => {
    await far.destroy();
    await proxy.stop();
    await database.drop();
  });

  const balance = () => balanceOf(dataSource, start.accountId);
  const record = () => near.reads.find(start.executionId);

  /** The error of `act` when the database cannot be reached for longer than a call may wait. */
  async function outage(act: () => Promise<unknown>, patienceMs: number): Promise<unknown> {
    await proxy.cut();
    const failed = act().then(
      () => 'done',
      (error: unknown) => error,
    );
    clock.skippedMs += patienceMs;
    const outcome = await failed;
    await proxy.mend();
    return outcome;
  }

  async function paid({ owed }: TestLedger): Promise<void> {
    while (owed.size > 0) {
      await owed.tick();
      await sleep(20);
    }
  }

  it('returns held, never insufficient, while connections are killed', async () => {
    const outcomes: string[] = [];
    const work = Array.from({ length: 12 }, async () => {
      for (let n = 0; n < 12; n += 1) {
        const call = startOf(start.accountId, 10n);
        outcomes.push((await near.executions.begin(call)).outcome);
        await near.executions.succeed(call, successOf(10n));
      }
    });
    const admin = await createDataSource({ url: database.url, poolSize: 1 }).initialize();
    let isOver = false;
    const killer = async () => {
      const others = `datname = current_database() AND pid <> pg_backend_pid()`;
      while (!isOver) {
        await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
        await sleep(60);
        // On a busy machine a statement takes longer than that, and each would be killed.
        const ended = outcomes.length;
        await until(() => isOver || outcomes.length > ended);
      }
    };
    const killing = killer();
    try {
      await Promise.all(work);
    } finally {
      isOver = true;
      await killing;
      await admin.destroy();
    }
    expect(new Set(outcomes)).toEqual(new Set(['held']));
    // The next statement notices that an idle connection was killed.
    await balance().catch(() => undefined);
    expect(await balance()).toEqual([FUNDS - 12n * 12n * 10n, 0n]);
  });

  it('retries until a long lock is released, and does not delay other accounts', async () => {
    const { id: otherId } = await accountsOf(dataSource).create('other');
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM account WHERE id = $1 FOR UPDATE', [start.accountId]);
    let isHeld = false;
    const begun = near.executions.begin(start).then((outcome) => {
      isHeld = true;
      return outcome;
    });
    const others = Array.from({ length: 20 }, () => near.executions.begin(startOf(otherId, 1n)));
    const outcomes = (await Promise.all(others)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(['insufficient']));
    expect(isHeld).toBe(false);
    await sleep(2_300);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await begun).toMatchObject({ outcome: 'held' });
    await near.executions.fail(start, FAILURE);
  });

  it('throws 503 when the database cannot be reached, and reverses a hold that may have been committed', async () => {
    const lost = ledgerOf(far, { clock });
    const error = await outage(() => lost.executions.begin(start), SUCCEED_PATIENCE_MS);
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503 });
    await paid(lost);
    // The lost statement arrives after all. Its id is already used by the cancellation.
    await expect(near.executions.begin(start)).rejects.toThrow('conflict');
    expect(await balance()).toEqual([FUNDS, 0n]);
    expect(await record()).toMatchObject({ status: 'failed', errorCode: 'service_unavailable' });
  });

  it('reverses a hold whose first try was committed without a response and whose second try failed permanently', async () => {
    const lost = ledgerOf(far, { clock });
    const { master: pool } = far.driver as unknown as { readonly master: Pool };
    const query = pool.query.bind(pool) as (config: unknown) => Promise<unknown>;
    let tries = 0;
    Object.assign(pool, {
      query: async (config: unknown) => {
        tries += 1;
        if (tries > 2) return query(config);
        if (tries === 1) await query(config);
        const code = tries === 1 ? 'ECONNRESET' : 'EMFILE';
        throw Object.assign(new Error(code), { code });
      },
    });
    await expect(lost.executions.begin(start)).rejects.toThrow('EMFILE');
    Object.assign(pool, { query });
    expect(lost.owed.size).toBe(1);
    await paid(lost);
    expect(await balance()).toEqual([FUNDS, 0n]);
    expect(lost.process.openCalls).toBe(0);
  });

  it('releases the hold of a call that got 503 because its settlement could not be written', async () => {
    const lost = ledgerOf(far, { clock });
    await lost.executions.begin(start);
    const settle = () => lost.executions.succeed(start, successOf(10n));
    expect(await outage(settle, SUCCEED_PATIENCE_MS)).toMatchObject({ status: 503 });
    await paid(lost);
    expect(await balance()).toEqual([FUNDS, 0n]);
    expect(await record()).toMatchObject({ status: 'failed', chargedMicroUsd: null });
  });

  it.each(['by the next start', 'by a process beside it'])(
    'reverses the charge that was committed without a response by a process that died after the 503: %s',
    async (payer) => {
      const dataDir = freshFolder();
      const lost = ledgerOf(far, { clock, dataDir });
      const sibling = ledgerOf(dataSource, { dataDir });
      await lost.process.heartbeat();
      await lost.executions.begin(start);
      // Nothing of this process runs after the error, as if it were killed there.
      lost.owed.flush = () => Promise.resolve();
      const settle = () => lost.executions.succeed(start, successOf(10n));
      expect(await outage(settle, SUCCEED_PATIENCE_MS)).toMatchObject({ status: 503 });
      await near.executions.succeed(start, successOf(10n));
      expect(await balance()).toEqual([FUNDS - 10n, 0n]);
      await endLease(dataSource, lost);
      const next = payer === 'by the next start' ? ledgerOf(dataSource, { dataDir }) : sibling;
      await next.process.heartbeat();
      // It has only begun to beat. The other process may be about to come back from the same outage.
      expect(await next.owed.recoverFromDeadProcesses()).toBe(0);
      await trust(dataSource, next);
      expect(await next.owed.recoverFromDeadProcesses()).toBe(1);
      expect(await next.owed.recoverFromDeadProcesses()).toBe(0);
      expect(await balance()).toEqual([FUNDS, 0n]);
      const { items } = await ledger.entries(start.accountId, { limit: 2 });
      expect(items.map((entry) => [entry.kind, entry.amountMicroUsd, entry.holdId])).toEqual([
        ['correction', 10n, start.executionId],
        ['charge', -10n, start.executionId],
      ]);
      expect(await record()).toMatchObject({ status: 'failed', chargedMicroUsd: null });
    },
  );

  it('returns the error of a failed call while its release is pending', async () => {
    const lost = ledgerOf(far, { clock });
    await lost.executions.begin(start);
    const fail = () => lost.executions.fail(start, FAILURE);
    expect(await outage(fail, FAIL_PATIENCE_MS)).toBe('done');
    await paid(lost);
    expect(await record()).toMatchObject({ errorCode: 'provider_timeout', provider: 'sandbox' });
    expect(await balance()).toEqual([FUNDS, 0n]);
  });

  it("keeps the keys of reversals apart from the operator's idempotency keys", async () => {
    await ledger.credit({
      accountId: start.accountId,
      amountMicroUsd: 7n,
      idempotencyKey: `reversal:${start.executionId}`,
      reference: null,
    });
    const lost = ledgerOf(far, { clock });
    await lost.executions.begin(start);
    await near.executions.succeed(start, successOf(10n));
    await proxy.cut();
    const settled = lost.executions.succeed(start, successOf(10n));
    clock.skippedMs += SUCCEED_PATIENCE_MS;
    await expect(settled).rejects.toMatchObject({ status: 503 });
    await proxy.mend();
    await paid(lost);
    expect(await balance()).toEqual([FUNDS + 7n, 0n]);
  });
});
