import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  balanceOf,
  FAILURE,
  fundedAccount,
  ledgerOf,
  endLease,
  startOf,
  successOf,
  trust,
} from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';

const FUNDS = 1_000_000n;
const LEASE_MS = 60_000;
/** Long enough for the beats of a busy machine. */
const BEATEN_LEASE_MS = 6_000;

describe('HoldSweeper', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let accountId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
  });
  beforeEach(async () => {
    accountId = await funded();
  });
  afterAll(async () => {
    expect(await auditLedger(dataSource)).toMatchObject({ ok: true, discrepancies: [] });
    await database.drop();
  });

  const funded = () => fundedAccount(dataSource, FUNDS);
  const held = async (id = accountId): Promise<bigint> => (await balanceOf(dataSource, id))[1];
  /** A process that beats until it is stopped. */
  async function beating(leaseMs: number) {
    const process = ledgerOf(dataSource, { leaseMs });
    await process.process.onModuleInit();
    return { ...process, stop: () => process.process.beforeApplicationShutdown() };
  }

  it('releases the calls of a process with an expired lease, after a whole lease of its own heartbeats', async () => {
    const dead = ledgerOf(dataSource, { leaseMs: LEASE_MS });
    await dead.process.heartbeat();
    const start = startOf(accountId, 10n);
    await dead.executions.begin(start);
    await endLease(dataSource, dead);
    const judge = await beating(LEASE_MS);
    expect(await judge.sweeper.tick()).toBe(0);
    await trust(dataSource, judge);
    expect(await judge.sweeper.tick()).toBe(1);
    expect(await held()).toBe(0n);
    expect(await judge.reads.find(start.executionId)).toMatchObject({
      status: 'failed',
      errorCode: 'process_lost',
    });
    // The process was only paused. Its call fails and costs nothing.
    await expect(dead.executions.succeed(start, successOf(10n))).rejects.toMatchObject({
      status: 503,
    });
    await judge.stop();
  });

  it('never releases a call of a process with heartbeats, however old the call is', async () => {
    const living = await beating(BEATEN_LEASE_MS);
    const start = startOf(accountId, 10n);
    await living.executions.begin(start);
    await dataSource.query(
      `UPDATE execution SET created_at = created_at - interval '2 hours' WHERE id = $1`,
      [start.executionId],
    );
    const judge = await beating(LEASE_MS);
    await trust(dataSource, judge);
    await sleep(BEATEN_LEASE_MS + 500);
    expect(await judge.sweeper.tick()).toBe(0);
    expect(await held()).toBe(10n);
    await living.executions.succeed(start, successOf(10n));
    await living.stop();
    await judge.stop();
  });

  it('waits for the longer of both leases before it considers a process dead', async () => {
    const slow = ledgerOf(dataSource, { leaseMs: 60_000 });
    await slow.process.heartbeat();
    const start = startOf(accountId, 10n);
    await slow.executions.begin(start);
    const judge = await beating(60);
    await sleep(300);
    await trust(dataSource, judge);
    expect(await judge.sweeper.tick()).toBe(0);
    expect(await held()).toBe(10n);
    await slow.executions.fail(start, FAILURE);
    await judge.stop();
  });

  it('considers no process dead right after an outage', async () => {
    const [first, second] = [LEASE_MS, LEASE_MS].map((leaseMs) =>
      ledgerOf(dataSource, { leaseMs }),
    );
    await first!.process.heartbeat();
    await second!.process.heartbeat();
    const start = startOf(accountId, 10n);
    await second!.executions.begin(start);
    // Neither reaches the database for longer than a lease; then the first does.
    await endLease(dataSource, first!);
    await endLease(dataSource, second!);
    await first!.process.heartbeat();
    expect(await first!.sweeper.tick()).toBe(0);
    await second!.process.heartbeat();
    expect(await first!.sweeper.tick()).toBe(0);
    await second!.executions.succeed(start, successOf(10n));
    expect(await held()).toBe(0n);
  });

  it('skips and logs an account with damaged counters, and releases the calls after it', async () => {
    const dead = ledgerOf(dataSource, { leaseMs: LEASE_MS });
    await dead.process.heartbeat();
    const healthyId = await funded();
    const broken = startOf(accountId, 10n);
    await dead.executions.begin(broken);
    await dead.executions.begin(startOf(healthyId, 10n));
    await dataSource.query(`UPDATE account SET held = 3 WHERE id = $1`, [accountId]);
    await endLease(dataSource, dead);
    const judge = await beating(LEASE_MS);
    await trust(dataSource, judge);
    expect(await judge.sweeper.tick()).toBe(1);
    expect(await held(healthyId)).toBe(0n);
    expect(await held()).toBe(3n);
    await dataSource.query(`UPDATE account SET held = 10 WHERE id = $1`, [accountId]);
    expect(await judge.sweeper.tick()).toBe(1);
    await judge.stop();
  });

  it('releases 10,000 calls of 100 accounts in one tick, several sweepers at once', async () => {
    const dead = ledgerOf(dataSource, { leaseMs: LEASE_MS });
    await dead.process.heartbeat();
    const ids = await Promise.all(Array.from({ length: 100 }, funded));
    const starts = ids.flatMap((id) => Array.from({ length: 100 }, () => startOf(id, 1n)));
    // All at once, the last would wait too long on a slow machine.
    for (let first = 0; first < starts.length; first += 1_000) {
      const part = starts.slice(first, first + 1_000);
      await Promise.all(part.map((start) => dead.executions.begin(start)));
    }
    await dead.process.beforeApplicationShutdown();
    const judges = await Promise.all([beating(LEASE_MS), beating(LEASE_MS), beating(LEASE_MS)]);
    await Promise.all(judges.map((one) => trust(dataSource, one)));
    let swept = 0;
    let ticks = 0;
    while (swept < starts.length) {
      const counts = await Promise.all(judges.map(({ sweeper }) => sweeper.tick()));
      swept += counts.reduce((sum, count) => sum + count, 0);
      if (swept > 0) ticks += 1;
    }
    expect(swept).toBe(starts.length);
    // Usually one tick. With one batch per tick it would take four.
    expect(ticks).toBeLessThan(4);
    for (const judge of judges) await judge.stop();
  });
});
