import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { auditLedger } from '../billing/audit.js';
import { GatewayProcess } from './gateway-process.js';
import { LedgerService } from '../billing/ledger.service.js';
import { timeOrderedUuid } from '../common/ids/time-ordered-uuid.js';
import { Clock, SystemClock } from '../common/time/clock.js';
import { createDataSource } from '../database/data-source.js';
import { Metrics } from '../observability/metrics.js';
import { ExecutionLedger, FAIL_PATIENCE_MS, SUCCEED_PATIENCE_MS } from './execution-ledger.js';
import { HoldSweeper, PROCESS_LOST } from './hold-sweeper.js';

const LEASE_TEST_INTERVAL_MS = 1;
const PROVIDER = { provider: 'sandbox', providerRequestId: 'req_1' };

/** The machine's clock, moved forward by hand. */
class SkippingClock extends Clock {
  skippedMs = 0;
  nowMs(): number {
    return Date.now() + this.skippedMs;
  }
}

const metrics = new Metrics();

describe('ExecutionLedger', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let ledger: LedgerService;
  let executions: ExecutionLedger;
  let accountId: string;
  const clock = new SkippingClock();

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    ledger = new LedgerService(dataSource, new SystemClock());
  });
  beforeEach(async () => {
    executions = new ExecutionLedger(dataSource, new GatewayProcess(dataSource), clock, metrics);
    accountId = await funded(1_000_000n);
  });
  afterEach(async () => {
    await executions.beforeApplicationShutdown();
    expect(await auditLedger(dataSource)).toMatchObject({ ok: true, discrepancies: [] });
  });
  afterAll(() => database.drop());

  async function funded(amountMicroUsd: bigint): Promise<string> {
    const { id } = await ledger.createAccount('test');
    await ledger.credit({ accountId: id, amountMicroUsd, idempotencyKey: 'fund', reference: null });
    return id;
  }
  const call = (amountMicroUsd: bigint, account = accountId) => ({
    executionId: timeOrderedUuid(Date.now()),
    accountId: account,
    apiKeyId: null,
    model: 'aud-v4',
    endpoint: '/v1/audio/speech',
    amountMicroUsd,
    expiresAt: new Date(Date.now() + 600_000),
  });
  const success = (executionId: string, chargedMicroUsd: bigint) => ({
    executionId,
    accountId,
    chargedMicroUsd,
    ...PROVIDER,
  });
  const failure = (executionId: string) => ({
    executionId,
    accountId,
    errorCode: 'provider_timeout',
    ...PROVIDER,
  });
  const balance = async (id = accountId): Promise<[bigint, bigint]> => {
    const { postedMicroUsd, heldMicroUsd } = await ledger.account(id);
    return [postedMicroUsd, heldMicroUsd];
  };

  it('holds, charges a part, frees the rest and records the call', async () => {
    const start = call(600n);
    expect(await executions.begin(start)).toBe('held');
    expect(await balance()).toEqual([1_000_000n, 600n]);
    expect(await executions.find(start.executionId)).toMatchObject({ status: 'running' });
    await executions.succeed(success(start.executionId, 450n));
    expect(await balance()).toEqual([999_550n, 0n]);
    expect(await executions.find(start.executionId, accountId)).toMatchObject({
      accountId,
      status: 'succeeded',
      chargedMicroUsd: 450n,
      errorCode: null,
      providerRequestId: 'req_1',
    });
    const { items } = await ledger.entries(accountId, { limit: 1 });
    expect(items).toMatchObject([
      { kind: 'charge', amountMicroUsd: -450n, holdId: start.executionId },
    ]);
  });

  it('frees the whole hold of a call that failed and records its error', async () => {
    const start = call(600n);
    await executions.begin(start);
    await executions.fail(failure(start.executionId));
    expect(await balance()).toEqual([1_000_000n, 0n]);
    expect(await executions.find(start.executionId)).toMatchObject({
      status: 'failed',
      errorCode: 'provider_timeout',
      chargedMicroUsd: null,
    });
  });

  it('settles for nothing without an entry', async () => {
    const start = call(600n);
    await executions.begin(start);
    await executions.succeed(success(start.executionId, 0n));
    expect((await ledger.entries(accountId, { limit: 5 })).items).toHaveLength(1);
    expect(await balance()).toEqual([1_000_000n, 0n]);
  });

  it('accepts a price equal to what two open holds leave, and refuses one micro more', async () => {
    await executions.begin(call(775_000n));
    await executions.begin(call(75_000n));
    expect(await executions.begin(call(150_001n))).toBe('insufficient');
    expect(await executions.begin(call(150_000n))).toBe('held');
    expect(await balance()).toEqual([1_000_000n, 1_000_000n]);
  });

  it('admits exactly as many parallel calls as the balance covers, over several processes', async () => {
    const poor = await funded(7n * 120n);
    const processes = [
      executions,
      ...[1, 2, 3].map(
        () => new ExecutionLedger(dataSource, new GatewayProcess(dataSource), clock, metrics),
      ),
    ];
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => processes[n % 4]!.begin(call(120n, poor))),
    );
    expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(7);
    expect(await balance(poor)).toEqual([840n, 840n]);
  });

  it('admits small calls behind a refused large one', async () => {
    const poor = await funded(100n);
    const outcomes = await Promise.all(
      [60n, 50n, 30n, 10n, 1n].map((n) => executions.begin(call(n, poor))),
    );
    expect(outcomes).toEqual(['held', 'insufficient', 'held', 'held', 'insufficient']);
  });

  it('moves money once when a settlement or a release is delivered twice (BILL-13)', async () => {
    const [settled, released] = [call(100n), call(100n)];
    await executions.begin(settled);
    await executions.begin(released);
    const settle = () => executions.succeed(success(settled.executionId, 100n));
    const release = () => executions.fail(failure(released.executionId));
    await Promise.all([settle(), settle(), release(), release()]);
    await settle();
    await release();
    expect(await balance()).toEqual([999_900n, 0n]);
  });

  it('refuses a settlement after a release and a release after a settlement', async () => {
    const [settled, released] = [call(100n), call(100n)];
    await executions.begin(settled);
    await executions.begin(released);
    await executions.succeed(success(settled.executionId, 100n));
    await executions.fail(failure(released.executionId));
    await expect(executions.fail(failure(settled.executionId))).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(executions.succeed(success(released.executionId, 100n))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    expect(await balance()).toEqual([999_900n, 0n]);
  });

  it('never charges more than was held: the call fails and the hold is freed', async () => {
    const start = call(100n);
    await executions.begin(start);
    await expect(executions.succeed(success(start.executionId, 101n))).rejects.toThrow(
      'within its hold',
    );
    await executions.beforeApplicationShutdown();
    expect(await balance()).toEqual([1_000_000n, 0n]);
  });

  it('lists executions newest first, by account and status, page by page', async () => {
    const starts = [call(1n), call(1n), call(1n)].sort((a, b) =>
      a.executionId < b.executionId ? 1 : -1,
    );
    for (const start of starts) await executions.begin(start);
    await executions.fail(failure(starts[1]!.executionId));
    const first = await executions.list({ accountId, limit: 2 });
    expect(first.items.map((item) => item.id)).toEqual([
      starts[0]!.executionId,
      starts[1]!.executionId,
    ]);
    const rest = await executions.list({ accountId, limit: 2, cursor: first.nextCursor! });
    expect(rest.items.map((item) => item.id)).toEqual([starts[2]!.executionId]);
    expect(rest.nextCursor).toBeNull();
    const failed = await executions.list({ accountId, status: 'failed', limit: 5 });
    expect(failed.items.map((item) => item.id)).toEqual([starts[1]!.executionId]);
    await expect(executions.list({ limit: 5, cursor: 'x' })).rejects.toMatchObject({
      param: 'cursor',
    });
    expect(await executions.find(starts[0]!.executionId, await funded(1n))).toBeUndefined();
  });

  describe('when the database misbehaves', () => {
    it('answers held for every call while connections are killed, never insufficient', async () => {
      const admin = await createDataSource({ url: database.url, poolSize: 1 }).initialize();
      const outcomes: string[] = [];
      const work = Array.from({ length: 12 }, async () => {
        for (let n = 0; n < 12; n += 1) {
          const start = call(10n);
          outcomes.push(await executions.begin(start));
          await executions.succeed(success(start.executionId, 10n));
        }
      });
      const done = new AbortController();
      const kills = (async () => {
        while (!done.signal.aborted) {
          await admin.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
          );
          await new Promise((resolve) => setTimeout(resolve, 60));
        }
      })();
      await Promise.all(work);
      done.abort();
      await kills;
      await admin.destroy();
      expect(new Set(outcomes)).toEqual(new Set(['held']));
      expect(await balance()).toEqual([1_000_000n - 12n * 12n * 10n, 0n]);
    });

    it('waits out a lock held too long instead of refusing the call', async () => {
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.query('SELECT 1 FROM account WHERE id = $1 FOR UPDATE', [accountId]);
      const begun = executions.begin(call(10n));
      await new Promise((resolve) => setTimeout(resolve, 2_300));
      await runner.rollbackTransaction();
      await runner.release();
      expect(await begun).toBe('held');
    });

    it('answers 503 when it cannot ask, and cancels the hold that may have arrived', async () => {
      const start = call(10n);
      await withoutDatabase(async (lost) => {
        const begun = lost.begin(start);
        clock.skippedMs += SUCCEED_PATIENCE_MS;
        await expect(begun).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
        expect(lost.owed).toBe(1);
      });
      // The lost statement arrives after all: the id is taken by its cancellation.
      await expect(executions.begin(start)).rejects.toThrow('conflict');
      expect(await balance()).toEqual([1_000_000n, 0n]);
    });

    it('releases the hold of a call that was told 503 because its settlement could not be written', async () => {
      const start = call(10n);
      await executions.begin(start);
      await withoutDatabase(async (lost) => {
        const settled = lost.succeed(success(start.executionId, 10n));
        clock.skippedMs += SUCCEED_PATIENCE_MS;
        await expect(settled).rejects.toMatchObject({ status: 503 });
      });
      expect(await balance()).toEqual([1_000_000n, 0n]);
      expect(await executions.find(start.executionId)).toMatchObject({
        status: 'failed',
        chargedMicroUsd: null,
      });
    });

    it('gives the charge back when the settlement it could not see had become durable', async () => {
      const start = call(10n);
      await executions.begin(start);
      await withoutDatabase(async (lost) => {
        const settled = lost.succeed(success(start.executionId, 10n));
        clock.skippedMs += SUCCEED_PATIENCE_MS;
        await expect(settled).rejects.toMatchObject({ status: 503 });
        await executions.succeed(success(start.executionId, 10n));
      });
      expect(await balance()).toEqual([1_000_000n, 0n]);
      const { items } = await ledger.entries(accountId, { limit: 2 });
      expect(items.map((entry) => [entry.kind, entry.amountMicroUsd])).toEqual([
        ['correction', 10n],
        ['charge', -10n],
      ]);
      expect(await executions.find(start.executionId)).toMatchObject({
        status: 'failed',
        chargedMicroUsd: null,
      });
    });

    it('lets a failed call answer its own error while the release is owed', async () => {
      const start = call(10n);
      await executions.begin(start);
      await withoutDatabase(async (lost) => {
        const failed = lost.fail(failure(start.executionId));
        clock.skippedMs += FAIL_PATIENCE_MS;
        await failed;
        expect(lost.owed).toBe(1);
      });
      expect(await executions.find(start.executionId)).toMatchObject({
        errorCode: 'provider_timeout',
      });
      expect(await balance()).toEqual([1_000_000n, 0n]);
    });

    /** A ledger whose database is away while `work` runs, and back when what it owes is paid. */
    async function withoutDatabase(work: (lost: ExecutionLedger) => Promise<void>): Promise<void> {
      const name = new URL(database.url).pathname.slice(1);
      const elsewhere = new URL(database.url);
      elsewhere.pathname = '/postgres';
      const admin = await createDataSource({ url: elsewhere.href, poolSize: 1 }).initialize();
      const away = await createDataSource({ url: database.url, poolSize: 2 }).initialize();
      const lost = new ExecutionLedger(away, new GatewayProcess(away), clock, metrics);
      const { master: pool } = away.driver as unknown as {
        readonly master: Pool & { readonly options: { connectionString: string } };
      };
      try {
        pool.options.connectionString = 'postgresql://postgres@/gone?host=/nowhere';
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`,
          [name],
        );
        while (pool.totalCount > 0) await new Promise((resolve) => setTimeout(resolve, 5));
        await work(lost);
        pool.options.connectionString = database.url;
        while (lost.owed > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      } finally {
        await lost.beforeApplicationShutdown();
        await away.destroy();
        await admin.destroy();
      }
    }
  });

  describe('and the sweeper of holds', () => {
    it('release the holds of a dead process and record its calls as lost', async () => {
      const dead = new GatewayProcess(dataSource);
      const died = new ExecutionLedger(dataSource, dead, clock, metrics);
      const [orphan, own] = [call(10n), call(20n)];
      await died.begin(orphan);
      const living = new GatewayProcess(dataSource);
      const sweeper = new HoldSweeper(dataSource, living, { intervalMs: 60_000 });
      await sweeper.tick();
      expect(await balance()).toEqual([1_000_000n, 10n]);
      await dataSource.query(`UPDATE hold SET created_at = now() - interval '1 hour'`);
      await new ExecutionLedger(dataSource, living, clock, metrics).begin(own);
      await sweeper.tick();
      expect(await balance()).toEqual([1_000_000n, 20n]);
      expect(await executions.find(orphan.executionId)).toMatchObject({
        status: 'failed',
        errorCode: PROCESS_LOST,
      });
      // The process was only paused: its call fails and costs nothing.
      await expect(died.succeed(success(orphan.executionId, 10n))).rejects.toMatchObject({
        status: 503,
      });
      await executions.fail(failure(own.executionId));
    });

    it('release a hold past its expiry though its process lives', async () => {
      const living = new GatewayProcess(dataSource);
      const sweeper = new HoldSweeper(dataSource, living, { intervalMs: 60_000 });
      await sweeper.onModuleInit();
      const start = { ...call(10n), expiresAt: new Date(Date.now() - 1_000) };
      await new ExecutionLedger(dataSource, living, clock, metrics).begin(start);
      expect(await sweeper.tick()).toBe(1);
      expect(await balance()).toEqual([1_000_000n, 0n]);
      await sweeper.beforeApplicationShutdown();
      expect(
        await dataSource.query('SELECT * FROM gateway_process WHERE id = $1', [living.id]),
      ).toEqual([]);
    });

    it('forget a process without heartbeat and sweep by themselves', async () => {
      const dead = new GatewayProcess(dataSource);
      await dead.heartbeat(60_000);
      await new ExecutionLedger(dataSource, dead, clock, metrics).begin(call(10n));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const sweeper = new HoldSweeper(dataSource, new GatewayProcess(dataSource), {
        intervalMs: LEASE_TEST_INTERVAL_MS,
      });
      await sweeper.onModuleInit();
      while ((await balance())[1] > 0n) await new Promise((resolve) => setTimeout(resolve, 10));
      await sweeper.beforeApplicationShutdown();
    });
  });
});
