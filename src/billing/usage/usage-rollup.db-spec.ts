import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  FAILURE,
  startOf,
  successOf,
  fundedAccount,
  IDLE_TICKER,
} from '../../../test/support/test-ledger.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { auditBooks } from '../audit/usage-audit.js';
import type { ExecutionStart } from '../calls/execution-commands.js';
import { millisecondsOf } from './usage-reports.js';
import { UsageRollup } from './usage-rollup.js';

const RUNS = 15;
const STEPS = 40;
const CREDIT = 1_000_000_000n;

let desk: UsageDesk;
let ledger: LedgerService;
beforeAll(async () => {
  desk = await UsageDesk.open();
  ledger = new LedgerService(desk.dataSource);
});
afterAll(() => desk.close());

const newAccount = (): Promise<string> => fundedAccount(desk.dataSource, CREDIT);

async function usageOf(accountId: string, dimension: 'day' | 'hour' | 'account' | 'run' = 'day') {
  const rows = await desk.rowsBy(accountId, dimension);
  const sum = (name: 'calls' | 'failures' | 'charged') =>
    rows.reduce((total, row) => total + BigInt(row[name]), 0n);
  return { calls: sum('calls'), failures: sum('failures'), charged: sum('charged') };
}

async function truthOf(accountId: string) {
  const [row] = await desk.dataSource.query<Record<'calls' | 'failures' | 'charged', string>[]>(
    `SELECT (SELECT count(*) FROM execution WHERE account_id = $1 AND status <> 'running') AS calls,
            (SELECT coalesce(-sum(amount), 0) FROM ledger_entry WHERE account_id = $1 AND hold_id IS NOT NULL) AS charged`,
    [accountId],
  );
  return { calls: BigInt(row?.calls ?? 0), charged: BigInt(row?.charged ?? 0) };
}

/** Charges of runs in usage, and what the runs say that they spent; without those of nothing. */
async function usageByRun(accountId: string): Promise<Record<string, string>> {
  const rows = await desk.rowsBy(accountId, 'run');
  const ofRuns = rows.filter(({ run, charged }) => run !== '' && charged !== '0');
  return Object.fromEntries(ofRuns.map(({ run, charged }) => [run ?? '', charged]));
}
async function spentByRun(accountId: string): Promise<Record<string, string>> {
  const rows = await desk.dataSource.query<{ id: string; spent: string }[]>(
    'SELECT id, spent FROM run WHERE account_id = $1 AND spent <> 0',
    [accountId],
  );
  return Object.fromEntries(rows.map(({ id, spent }) => [id, spent]));
}

async function foldedOf(accountId: string): Promise<bigint> {
  const [row] = await desk.dataSource.query<{ charged: string }[]>(
    'SELECT charged FROM usage_account WHERE account_id = $1',
    [accountId],
  );
  return BigInt(row?.charged ?? 0);
}

const OPERATIONS = [
  'begin',
  'begin',
  'succeed',
  'succeed',
  'fail',
  'cancel',
  'refund',
  'fold',
] as const;

/** Cancels a call whatever became of it, as what is owed does. */
const cancel = ({ accountId, executionId }: ExecutionStart) =>
  desk.dataSource.query(
    `SELECT execution_cancel($1, $2, NULL, 'aud-v4', '/v1/audio/speech', 'service_unavailable', NULL, NULL)`,
    [accountId, executionId],
  );

async function play(accountId: string, operations: readonly [string, number][]): Promise<void> {
  const starts: ExecutionStart[] = [];
  for (const [operation, pick] of operations) {
    const start = starts[pick % Math.max(1, starts.length)];
    if (operation === 'begin') {
      const run = pick % 3 === 0 ? undefined : { id: `run ${pick % 3}` };
      const begun = { ...startOf(accountId, BigInt(pick + 1)), run };
      await desk.calls.executions.begin(begun);
      starts.push(begun);
    } else if (operation === 'fold') {
      await desk.rollup.tick(0);
    } else if (start) {
      const charge = start.amountMicroUsd / 2n;
      if (operation === 'succeed')
        await desk.calls.executions.succeed(start, successOf(charge)).catch(() => 0);
      if (operation === 'fail') await desk.calls.executions.fail(start, FAILURE).catch(() => 0);
      if (operation === 'cancel') await cancel(start);
      if (operation === 'refund') {
        const part = pick % 2 === 0 ? {} : { amountMicroUsd: 7n, idempotencyKey: String(pick % 5) };
        await ledger
          .refund({ of: 'execution', id: start.executionId, note: null, ...part })
          .catch(() => 0);
      }
    }
  }
}

describe('the sums of usage', () => {
  it('and unfolded calls together equal the ledger at every moment, for any order of events', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...OPERATIONS), fc.nat(1_000)), { maxLength: STEPS }),
        async (operations) => {
          const accountId = await newAccount();
          await play(accountId, operations);
          const truth = await truthOf(accountId);
          expect(await usageOf(accountId)).toMatchObject(truth);
          expect(await usageOf(accountId, 'hour')).toMatchObject(truth);
          expect(await usageOf(accountId, 'run')).toMatchObject(truth);
          expect(await usageByRun(accountId)).toEqual(await spentByRun(accountId));
          expect((await auditBooks(desk.dataSource, 'new')).discrepancies).toEqual([]);
          await desk.foldAll();
          expect(await usageOf(accountId)).toMatchObject(truth);
          expect(await usageOf(accountId, 'hour')).toMatchObject(truth);
          expect(await usageOf(accountId, 'account')).toMatchObject(truth);
          expect(await usageOf(accountId, 'run')).toMatchObject(truth);
          expect(await usageByRun(accountId)).toEqual(await spentByRun(accountId));
          for (const scope of ['new', 'full', 'new'] as const) {
            expect((await auditBooks(desk.dataSource, scope)).discrepancies).toEqual([]);
          }
          expect(await foldedOf(accountId)).toBe(truth.charged);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('miss no call whose transaction was under way while others were folded', async () => {
    const accountId = await newAccount();
    const late = desk.dataSource.createQueryRunner();
    await late.connect();
    await late.startTransaction();
    try {
      const id = randomUUID();
      await late.query(
        `INSERT INTO execution (account_id, id, held, model, endpoint) VALUES ($1, $2, 5, 'late', '/v1/late')`,
        [accountId, id],
      );
      for (let index = 0; index < 3; index++) {
        await play(await newAccount(), [
          ['begin', 1],
          ['succeed', 0],
        ]);
        await desk.rollup.tick(0);
        await desk.rollup.tick(0);
      }
      await late.query(
        `UPDATE execution SET status = 'failed', completed_at = now(), error_code = 'x' WHERE id = $1`,
        [id],
      );
      await late.commitTransaction();
    } finally {
      await late.release();
    }
    expect(await usageOf(accountId)).toEqual({ calls: 1n, failures: 1n, charged: 0n });
    await desk.foldAll();
    await desk.foldAll();
    expect(await usageOf(accountId)).toEqual({ calls: 1n, failures: 1n, charged: 0n });
    const [row] = await desk.dataSource.query<{ calls: string }[]>(
      'SELECT sum(calls) AS calls FROM usage_day WHERE account_id = $1',
      [accountId],
    );
    expect(row?.calls).toBe('1');
  });

  it('miss no call whose transaction is the newest of the server', async () => {
    await desk.foldAll();
    const accountId = await newAccount();
    const late = desk.dataSource.createQueryRunner();
    await late.startTransaction();
    try {
      await late.query(
        `INSERT INTO execution (account_id, id, held, model, endpoint, status, completed_at, error_code)
           VALUES ($1, $2, 5, 'late', '/v1/late', 'failed', now(), 'x')`,
        [accountId, randomUUID()],
      );
      for (let index = 0; index < 3; index++) await desk.rollup.tick(0);
      await late.commitTransaction();
    } finally {
      await late.release();
    }
    await desk.foldAll();
    expect(await usageOf(accountId)).toEqual({ calls: 1n, failures: 1n, charged: 0n });
  });

  it('grow once when two processes fold at once', async () => {
    const accountId = await newAccount();
    await play(accountId, [
      ['begin', 10],
      ['succeed', 0],
    ]);
    const other = new UsageRollup(desk.dataSource, IDLE_TICKER);
    await Promise.all([desk.rollup.tick(0), other.tick(0), desk.rollup.tick(0), other.tick(0)]);
    await desk.foldAll();
    expect(await foldedOf(accountId)).toBe(5n);
  });
});

describe('latencies', () => {
  it('are shown within 5 %', async () => {
    const rows = await desk.dataSource.query<{ ms: number; bucket: number }[]>(
      `SELECT ms::int, usage_bucket(ms) AS bucket FROM generate_series(20, 200000, 37) ms`,
    );
    for (const { ms, bucket } of rows) {
      expect(Math.abs((millisecondsOf(bucket) ?? 0) / ms - 1)).toBeLessThanOrEqual(0.05);
    }
  });
});
