import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { until } from '../../../test/support/until.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { auditLedger } from './audit.js';
import { LedgerAudit } from './ledger-audit.js';
import { auditBooks } from './usage-audit.js';

/** More than a transaction has tries. */
const PROCESSES = 8;

const WAITING = `
  SELECT count(*)::int AS count FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const waiting = async () =>
  (await database.dataSource.query<[{ count: number }]>(WAITING))[0].count;

describe('audits that are asked for at the same time', () => {
  it('are one that runs and one that begins when it has ended', async () => {
    const audit = new LedgerAudit(database.dataSource, {} as Scheduler);
    const asked = await database.dataSource.transaction(async (blocker) => {
      await blocker.query('LOCK TABLE account IN ACCESS EXCLUSIVE MODE');
      const first = audit.run();
      await until(async () => (await waiting()) === 1);
      const more = Array.from({ length: 20 }, () => audit.run());
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(await waiting()).toBe(1);
      return [first, ...more];
    });
    const [first, second, ...others] = await Promise.all(asked);
    expect(first).toMatchObject({ ok: true });
    expect(second).not.toBe(first);
    expect(others.every((report) => report === second)).toBe(true);
    expect(await audit.run()).not.toBe(second);
  });

  it('take turns over processes, and none fails', async () => {
    const { dataSource } = database;
    await fundedAccount(dataSource, 100n);
    const reports = await dataSource.transaction(async (blocker) => {
      await blocker.query('SET LOCAL idle_in_transaction_session_timeout = 0');
      // Each process has begun before the first one ends.
      await blocker.query('LOCK TABLE account IN ACCESS EXCLUSIVE MODE');
      const audits = Array.from({ length: PROCESSES }, (_none, index) =>
        index % 2 === 0 ? auditLedger(dataSource) : auditBooks(dataSource, 'full'),
      );
      await until(async () => (await waiting()) === PROCESSES);
      return audits;
    });
    const ended = await Promise.allSettled(reports);
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 'fulfilled'));
  });

  it('go on after one that has failed', async () => {
    const audit = new LedgerAudit(database.dataSource, {} as Scheduler);
    await database.dataSource.query('ALTER TABLE audit_state RENAME TO hidden');
    const failed = await Promise.allSettled([audit.run(), audit.run()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await database.dataSource.query('ALTER TABLE hidden RENAME TO audit_state');
    expect(await audit.run()).toMatchObject({ ok: true });
  });
});
