import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { until } from '../../../test/support/until.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { LedgerAudit } from './ledger-audit.js';

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

  it('go on after one that has failed', async () => {
    const audit = new LedgerAudit(database.dataSource, {} as Scheduler);
    await database.dataSource.query('ALTER TABLE audit_state RENAME TO hidden');
    const failed = await Promise.allSettled([audit.run(), audit.run()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await database.dataSource.query('ALTER TABLE hidden RENAME TO audit_state');
    expect(await audit.run()).toMatchObject({ ok: true });
  });
});
