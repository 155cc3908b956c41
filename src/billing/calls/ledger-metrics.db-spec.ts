import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { FAILURE, ledgerOf, startOf } from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { FiguresLeader } from '../../platform/scheduler/figures-leader.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { LedgerMetrics } from './ledger-metrics.js';

describe('LedgerMetrics', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('publishes the rows of the whole database from one process', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, 100n);
    const processes = [1, 2, 3].map(() => {
      const metrics = new Metrics();
      const leader = new FiguresLeader(dataSource, {} as Scheduler, metrics);
      const interval = { intervalMs: 1_000 };
      const gauges = new LedgerMetrics(dataSource, metrics, {} as Scheduler, interval);
      return { ...ledgerOf(dataSource), metrics, leader, gauges };
    });
    const starts = processes.map(() => startOf(accountId, 10n));
    for (const [index, { process, executions }] of processes.entries()) {
      await executions.begin(starts[index]!);
      await process.heartbeat();
    }
    await dataSource.query(`UPDATE gateway_process SET open_calls = 0`);
    await processes[0]!.sweeper.tick();
    await auditLedger(dataSource, 'new');
    const shown = async (): Promise<(string[] | null)[]> => {
      for (const { leader } of processes) await leader.stand();
      return Promise.all(
        processes.map(async ({ gauges, metrics }) => {
          await gauges.tick();
          return (await metrics.registry.metrics()).match(/^gateway_(holds_open|audit_ok) .*/gm);
        }),
      );
    };
    const figures = ['gateway_holds_open 3', 'gateway_audit_ok 1'];
    expect(await shown()).toEqual([figures, null, null]);
    await processes[0]!.leader.beforeApplicationShutdown();
    expect(await processes[0]!.metrics.registry.metrics()).not.toMatch(/^gateway_holds_open /m);
    processes.push(processes.shift()!);
    expect(await shown()).toEqual([figures, null, null]);
    for (const [index, { executions }] of processes.entries()) {
      await executions.fail(starts[(index + 1) % 3]!, FAILURE);
    }
  });

  it('counts the holds of tasks without reading calls, holds or entries, even while those are locked', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, 100n);
    await dataSource.query(`UPDATE gateway_process SET lease_until = now()`);
    await dataSource.query(`UPDATE call_look SET open_calls = 0`);
    await dataSource.query(
      `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                         upstream_model, reserved, status, completed_at)
       SELECT $1, gen_random_uuid(), 'song', 'audio', 'm', '{}', 'p', '', true, 'm', 1, status, completed_at
         FROM (VALUES ('queued', NULL), ('processing', NULL), ('reconciliation_required', now()), ('expired', now()))
              t (status, completed_at)`,
      [accountId],
    );
    const metrics = new Metrics();
    const interval = { intervalMs: 1_000 };
    const gauges = new LedgerMetrics(dataSource, metrics, {} as Scheduler, interval);
    const locked = dataSource.createQueryRunner();
    await locked.startTransaction();
    await locked.query(
      `LOCK TABLE execution, hold, ledger_entry, account IN ACCESS EXCLUSIVE MODE`,
    );
    await gauges.tick();
    await locked.rollbackTransaction();
    await locked.release();
    expect(await metrics.registry.metrics()).toContain('gateway_holds_open 3\n');
  });
});
