import { cp, mkdtemp, rm, chmod, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  balanceOf,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../../test/support/test-ledger.js';
import { MINUTE_MS } from '../../common/time/spans.js';
import { auditLedger } from '../audit/audit.js';
import { Clock } from '../../common/time/clock.js';
import { createDataSource } from '../../platform/database/data-source.js';
import { EmbeddedPostgres } from '../../platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../../platform/database/run-migrations.js';

const FUNDS = 1_000_000n;

class MovedClock extends Clock {
  movedMs = 0;
  nowMs(): number {
    return Date.now() + this.movedMs;
  }
}

describe('calls that run in the database but have ended in their process', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true });
    await database.drop();
  });

  it('are released after two checks a minute apart, and a known call never (G-111)', async () => {
    const { dataSource } = database;
    const clock = new MovedClock();
    const { process, executions, sweeper, lost, reads } = ledgerOf(dataSource, { clock });
    await process.heartbeat();
    const accountId = await fundedAccount(dataSource, FUNDS);
    const [known, ended] = [startOf(accountId, 10n), startOf(accountId, 30n)];
    await executions.begin(known);
    await executions.begin(ended);
    await dataSource.query(`UPDATE execution SET created_at = created_at - interval '2 minutes'`);
    await dataSource.query(`UPDATE call_look SET looked_until = looked_until - interval '2 minutes',
      candidate_at = now(), candidate_xid = pg_snapshot_xmin(pg_current_snapshot())`);
    await sweeper.tick();
    // As the database lost the end of the call that this process made.
    process.untrackOpenCall(ended.executionId);
    expect(await lost.tick()).toBe(0);
    clock.movedMs += MINUTE_MS - 5_000;
    expect(await lost.tick()).toBe(0);
    clock.movedMs += 10_000;
    expect(await lost.tick()).toBe(1);
    expect(await lost.tick()).toBe(0);
    expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS, 10n]);
    expect(await reads.find(ended.executionId)).toMatchObject({ errorCode: 'process_lost' });
    await executions.succeed(known, successOf(10n));
  });
});

describe('a database whose log went back', () => {
  it('is logged as an error, and lost confirmed work is counted', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'shim-back-'));
    await chmod(dataDir, 0o755);
    const cluster = join(dataDir, 'postgres');
    const start = () => EmbeddedPostgres.start({ dataDir });
    let server = await start();
    const dataSource = createDataSource({ url: server.url, poolSize: 4 });
    await dataSource.initialize();
    try {
      await runMigrations(dataSource);
      const { process, executions, lost, metrics } = ledgerOf(dataSource);
      const accountId = await fundedAccount(dataSource, FUNDS);
      await process.heartbeat();
      const kept = startOf(accountId, 10n);
      await executions.begin(kept);
      await executions.succeed(kept, successOf(10n));
      const [running, whole] = [startOf(accountId, 20n), startOf(accountId, 30n)];
      await executions.begin(running);
      await server.stop();
      await cp(cluster, `${cluster}.then`, { recursive: true, preserveTimestamps: true });
      server = await start();
      // The first statement finds the connection broken.
      await process.heartbeat().catch(() => process.heartbeat());
      await executions.succeed(running, successOf(20n));
      await executions.begin(whole);
      await executions.succeed(whole, successOf(30n));
      await dataSource.query(`SELECT pg_switch_wal()`);
      expect(await lost.tick()).toBe(0);
      expect(await metrics.callsLost.get()).toMatchObject({ values: [{ value: 0 }] });
      await server.stop();
      await rm(cluster, { recursive: true });
      await rename(`${cluster}.then`, cluster);
      server = await start();
      await process.heartbeat().catch(() => process.heartbeat());
      await lost.tick().catch(() => lost.tick());
      // The end of one and the whole of the other are lost; the one before is there.
      expect(await metrics.callsLost.get()).toMatchObject({ values: [{ value: 2 }] });
      await lost.tick();
      expect(await metrics.callsLost.get()).toMatchObject({ values: [{ value: 2 }] });
      expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS - 10n, 20n]);
    } finally {
      await dataSource.destroy();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
