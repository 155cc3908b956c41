import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount, balanceOf } from '../../../test/support/test-ledger.js';
import {
  FAILURE,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';
import { LedgerService } from '../ledger/ledger.service.js';
import type { ExecutionLedger } from './execution-ledger.js';
import type { ExecutionsService } from './executions.service.js';

describe('ExecutionLedger', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let own: TestLedger;
  let executions: ExecutionLedger;
  let reads: ExecutionsService;
  let accountId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
  });
  beforeEach(async () => {
    own = ledgerOf(dataSource);
    executions = own.executions;
    reads = own.reads;
    accountId = await funded(1_000_000n);
  });
  afterEach(async () => {
    await own.owed.beforeApplicationShutdown();
    expect(await auditLedger(dataSource)).toMatchObject({ ok: true, discrepancies: [] });
  });
  afterAll(() => database.drop());

  const funded = (amountMicroUsd: bigint) => fundedAccount(dataSource, amountMicroUsd);
  const call = (amountMicroUsd: bigint, account = accountId) => startOf(account, amountMicroUsd);
  const balance = (id = accountId) => balanceOf(dataSource, id);

  it('holds, charges a part, frees the rest and records the call', async () => {
    const start = call(600n);
    expect(await executions.begin(start)).toMatchObject({ outcome: 'held' });
    expect(await balance()).toEqual([1_000_000n, 600n]);
    expect(await reads.find(start.executionId)).toMatchObject({ status: 'running' });
    await executions.succeed(start, successOf(450n));
    expect(await balance()).toEqual([999_550n, 0n]);
    expect(await reads.find(start.executionId, accountId)).toMatchObject({
      accountId,
      status: 'succeeded',
      chargedMicroUsd: 450n,
      errorCode: null,
      providerRequestId: 'req_1',
    });
    const { items } = await new LedgerService(dataSource).entries(accountId, { limit: 1 });
    expect(items).toMatchObject([
      { kind: 'charge', amountMicroUsd: -450n, holdId: start.executionId },
    ]);
  });

  it('frees the whole hold of a call that failed and records its error', async () => {
    const start = call(600n);
    await executions.begin(start);
    await executions.fail(start, FAILURE);
    expect(await balance()).toEqual([1_000_000n, 0n]);
    expect(await reads.find(start.executionId)).toMatchObject({
      status: 'failed',
      errorCode: 'provider_timeout',
      chargedMicroUsd: null,
    });
  });

  it('settles a charge of 0 without an entry', async () => {
    const start = call(600n);
    await executions.begin(start);
    await executions.succeed(start, successOf(0n));
    const { items } = await new LedgerService(dataSource).entries(accountId, { limit: 5 });
    expect(items).toHaveLength(1);
    expect(await balance()).toEqual([1_000_000n, 0n]);
  });

  it('accepts a price equal to what two open holds leave, and refuses one micro more', async () => {
    await executions.begin(call(775_000n));
    await executions.begin(call(75_000n));
    expect(await executions.begin(call(150_001n))).toMatchObject({ outcome: 'insufficient' });
    expect(await executions.begin(call(150_000n))).toMatchObject({ outcome: 'held' });
    expect(await balance()).toEqual([1_000_000n, 1_000_000n]);
  });

  it('admits exactly as many parallel calls as the balance covers, over several processes', async () => {
    const poor = await funded(7n * 120n);
    const processes = [executions, ...[1, 2, 3].map(() => ledgerOf(dataSource).executions)];
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => processes[n % 4]!.begin(call(120n, poor))),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'held')).toHaveLength(7);
    expect(await balance(poor)).toEqual([840n, 840n]);
  });

  it('admits small calls behind a refused large one', async () => {
    const poor = await funded(100n);
    const outcomes = await Promise.all(
      [60n, 50n, 30n, 10n, 1n].map((n) => executions.begin(call(n, poor))),
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'held',
      'insufficient',
      'held',
      'held',
      'insufficient',
    ]);
  });

  it('moves money once when a settlement or a release is delivered twice (BILL-13)', async () => {
    const [settled, released] = [call(100n), call(100n)];
    await executions.begin(settled);
    await executions.begin(released);
    const settle = () => executions.succeed(settled, successOf(100n));
    const release = () => executions.fail(released, FAILURE);
    await Promise.all([settle(), settle(), release(), release()]);
    await settle();
    await release();
    expect(await balance()).toEqual([999_900n, 0n]);
  });

  it('refuses a settlement after a release and a release after a settlement', async () => {
    const [settled, released] = [call(100n), call(100n)];
    await executions.begin(settled);
    await executions.begin(released);
    await executions.succeed(settled, successOf(100n));
    await executions.fail(released, FAILURE);
    await expect(executions.fail(settled, FAILURE)).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(executions.succeed(released, successOf(100n))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    expect(await balance()).toEqual([999_900n, 0n]);
  });

  it('never charges more than was held: the call fails and the hold is freed', async () => {
    const start = call(100n);
    await executions.begin(start);
    await expect(executions.succeed(start, successOf(101n))).rejects.toThrow(
      'unexpected outcome of a settlement: excess',
    );
    await own.owed.flush();
    expect(await balance()).toEqual([1_000_000n, 0n]);
  });

  it('lists executions newest first, by account and status, page by page', async () => {
    const starts = [call(1n), call(1n), call(1n)].sort((a, b) =>
      a.executionId < b.executionId ? 1 : -1,
    );
    for (const start of starts) await executions.begin(start);
    await executions.fail(starts[1]!, FAILURE);
    const first = await reads.list({ accountId, limit: 2 });
    expect(first.items.map((item) => item.id)).toEqual([
      starts[0]!.executionId,
      starts[1]!.executionId,
    ]);
    const rest = await reads.list({ accountId, limit: 2, cursor: first.nextCursor! });
    expect(rest.items.map((item) => item.id)).toEqual([starts[2]!.executionId]);
    expect(rest.nextCursor).toBeNull();
    const failed = await reads.list({ accountId, status: 'failed', limit: 5 });
    expect(failed.items.map((item) => item.id)).toEqual([starts[1]!.executionId]);
    await expect(reads.list({ limit: 5, cursor: 'x' })).rejects.toMatchObject({
      param: 'cursor',
    });
    expect(await reads.find(starts[0]!.executionId, await funded(1n))).toBeUndefined();
  });
});
