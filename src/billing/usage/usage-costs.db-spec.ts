import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  FAILURE,
  fundedAccount,
  IDLE_TICKER,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { auditBooks } from '../audit/usage-audit.js';
import { marginOf } from '../cost-sums.js';
import { type UsageDimension, UsageReports, type UsageRow } from './usage-reports.js';
import { UsageRollup } from './usage-rollup.js';

const RUNS = 12;
const CREDIT = 1_000_000_000n;
const ALL = { fromDay: '2020-01-01', toDay: '2100-01-01', limit: 1_000, offset: 0 };
const LONGEST_PAUSE_MS = 100;
const ROUTES = ['alpha m-1', 'alpha m-2', 'beta m-1'] as const;
/** Sums of costs go beyond the largest bigint. */
const MOST = 10n ** 15n;

let database: TestDatabase;
let calls: TestLedger;
let rollup: UsageRollup;
let reports: UsageReports;

beforeAll(async () => {
  database = await createTestDatabase();
  calls = ledgerOf(database.dataSource);
  rollup = new UsageRollup(database.dataSource, IDLE_TICKER);
  reports = new UsageReports(database.dataSource);
});
afterAll(() => database.drop());

interface PlayedCall {
  readonly route: (typeof ROUTES)[number];
  readonly run: 'r1' | undefined;
  readonly charge: bigint;
  readonly cost: bigint | null;
  readonly end: 'charged' | 'failed' | 'refunded' | 'undone' | 'open';
  readonly foldsAfter: boolean;
}

const oneCall: fc.Arbitrary<PlayedCall> = fc.record({
  route: fc.constantFrom(...ROUTES),
  run: fc.constantFrom('r1' as const, undefined),
  charge: fc.bigInt(0n, 1_000n),
  cost: fc.option(fc.oneof(fc.bigInt(0n, 2_000n), fc.constant(MOST))),
  end: fc.constantFrom('charged', 'charged', 'failed', 'refunded', 'undone', 'open'),
  foldsAfter: fc.boolean(),
});

/** What usage says of a group; `failures` of calls that were undone depend on whether they were folded before. */
interface Sums {
  calls: number;
  charged: bigint;
  cost: bigint;
  /** Calls that were charged and have no cost. */
  unknown: number;
  isUndone: boolean;
}

const none = (): Sums => ({ calls: 0, charged: 0n, cost: 0n, unknown: 0, isUndone: false });

async function foldAll(): Promise<void> {
  const from = new Date();
  for (let fold = 0; ; fold++) {
    await rollup.tick(0);
    const [state] = await database.dataSource.query<{ until: Date }[]>(
      'SELECT folded_until AS until FROM usage_state',
    );
    if (state && state.until > from) return;
    await sleep(Math.min(fold, LONGEST_PAUSE_MS));
  }
}

async function playCall(accountId: string, played: PlayedCall): Promise<void> {
  const { route, run, charge, cost, end } = played;
  const [provider = '', upstreamModel = ''] = route.split(' ');
  const start = { ...startOf(accountId, 1_000n), ...(run && { run: { id: run } }) };
  await calls.executions.begin(start);
  if (end === 'open') return;
  if (end === 'failed') {
    await calls.executions.fail(start, { ...FAILURE, provider, upstreamModel, costMicroUsd: cost });
    return;
  }
  const success = { ...successOf(charge), provider, upstreamModel, costMicroUsd: cost };
  await calls.executions.succeed(start, success);
  if (end === 'refunded' && charge > 0n) {
    await database.dataSource.query(
      `SELECT execution_refund_v3($1, $2::uuid, NULL, $2::uuid::text, 'n', NULL)`,
      [accountId, start.executionId],
    );
  }
  if (end === 'undone') {
    await database.dataSource.query(
      `SELECT execution_cancel($1, $2, NULL, $3, $4, 'service_unavailable', NULL, NULL)`,
      [accountId, start.executionId, start.model, start.endpoint],
    );
  }
}

/** What the oracle adds for a call, in plain integers. */
function counted(sums: Sums, { charge, cost, end }: PlayedCall): void {
  if (end === 'open') return;
  sums.calls += 1;
  sums.cost += cost ?? 0n;
  if (end === 'charged') sums.charged += charge;
  if (end === 'undone') sums.isUndone = true;
  if ((end === 'charged' || end === 'refunded') && cost === null) sums.unknown += 1;
}

async function rowsBy(accountId: string, groupBy: UsageDimension[]): Promise<UsageRow[]> {
  return reports.rows({ ...ALL, groupBy, accountId, apiKeyId: undefined, model: undefined });
}

function expectSums(
  row: UsageRow | undefined,
  { calls: many, charged, cost, ...sums }: Sums,
): void {
  if (many === 0) return;
  expect(row).toMatchObject({ calls: `${many}`, charged: `${charged}`, cost: `${cost}` });
  const { marginMicroUsd } = marginOf(row!);
  // An undone call whose cost is not known counts as a call that succeeded if it was folded before.
  if (!sums.isUndone) {
    expect(marginMicroUsd).toBe(sums.unknown === 0 ? charged - cost : null);
  }
}

describe('costs in usage', () => {
  it('are what the records cost, by account, route and run, folded or not, whatever was given back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(oneCall, { minLength: 1, maxLength: 12 }), async (history) => {
        const accountId = await fundedAccount(database.dataSource, CREDIT);
        const all = none();
        const byRoute = new Map<string, Sums>(ROUTES.map((route) => [route, none()]));
        const byRun = new Map<string, Sums>(['', 'r1'].map((run) => [run, none()]));
        for (const played of history) {
          await playCall(accountId, played);
          for (const sums of [all, byRoute.get(played.route), byRun.get(played.run ?? '')]) {
            if (sums) counted(sums, played);
          }
          if (played.foldsAfter) await foldAll();
        }
        const [whole] = await rowsBy(accountId, ['account']);
        expectSums(whole, all);
        const routes = await rowsBy(accountId, ['provider', 'upstream_model']);
        for (const [route, sums] of byRoute) {
          const isOf = (row: UsageRow) => `${row.provider} ${row.upstream_model}` === route;
          expectSums(routes.find(isOf), sums);
        }
        const runs = await rowsBy(accountId, ['run']);
        for (const [run, sums] of byRun)
          expectSums(
            runs.find((row) => row.run === run),
            sums,
          );
        expect((await auditBooks(database.dataSource, 'full')).discrepancies).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['a record', 'UPDATE execution SET cost = 4 WHERE account_id = $1 AND cost IS NULL', 1],
    ['an account', 'UPDATE usage_account SET cost = cost + 1 WHERE account_id = $1', 2],
    ['a day', 'UPDATE usage_day SET cost = cost + 1 WHERE account_id = $1', 3],
    ['a month', 'UPDATE usage_month SET cost = cost + 1 WHERE account_id = $1', 1],
  ])('that differ in %s are found by a full audit', async (_where, damage, findings) => {
    const own = await createTestDatabase();
    try {
      const { executions } = ledgerOf(own.dataSource);
      const folds = new UsageRollup(own.dataSource, IDLE_TICKER);
      const accountId = await fundedAccount(own.dataSource, CREDIT);
      for (const costMicroUsd of [3n, null]) {
        const start = startOf(accountId, 10n);
        await executions.begin(start);
        await executions.succeed(start, { ...successOf(10n), costMicroUsd });
      }
      const isFolded = async () =>
        (await own.dataSource.query<unknown[]>('SELECT FROM usage_account WHERE cost = 3')).length;
      for (let fold = 0; (await isFolded()) === 0; fold++) {
        await folds.tick(0);
        await sleep(Math.min(fold, LONGEST_PAUSE_MS));
      }
      expect((await auditBooks(own.dataSource, 'full')).ok).toBe(true);
      await own.dataSource.query(damage, [accountId]);
      expect((await auditBooks(own.dataSource, 'full')).discrepancies).toHaveLength(findings);
    } finally {
      await own.drop();
    }
  });

  it('are written once, at the end of a call, and bounded', async () => {
    const accountId = await fundedAccount(database.dataSource, CREDIT);
    const start = startOf(accountId, 10n);
    const write = (cost: string) =>
      database.dataSource.query('UPDATE execution SET cost = $2 WHERE id = $1', [
        start.executionId,
        cost,
      ]);
    await calls.executions.begin(start);
    await expect(write('5')).rejects.toThrow('execution_cost_is_of_an_end');
    await calls.executions.succeed(start, { ...successOf(10n), costMicroUsd: 5n });
    await expect(write('6')).rejects.toThrow('is final');
    await expect(write('5')).resolves.toBeDefined();
    const other = startOf(accountId, 10n);
    await calls.executions.begin(other);
    await calls.executions.succeed(other, successOf(10n));
    const late = (cost: string) =>
      database.dataSource.query('UPDATE execution SET cost = $2 WHERE id = $1', [
        other.executionId,
        cost,
      ]);
    await expect(late('-1')).rejects.toThrow('execution_cost_check');
    await expect(late('1000000000000001')).rejects.toThrow('execution_cost_check');
  });
});
