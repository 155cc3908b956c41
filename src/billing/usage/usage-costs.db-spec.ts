import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FAILURE, fundedAccount, startOf, successOf } from '../../../test/support/test-ledger.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { auditBooks } from '../audit/usage-audit.js';
import { marginOf } from '../cost-sums.js';
import type { UsageRow } from './usage-reports.js';

const RUNS = 12;
const CREDIT = 1_000_000_000n;
const ROUTES = ['alpha m-1', 'alpha m-2', 'beta m-1'] as const;
/** Sums of costs go beyond the largest bigint. */
const MOST = 10n ** 15n;

let desk: UsageDesk;
beforeAll(async () => {
  desk = await UsageDesk.open();
});
afterAll(() => desk.close());

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

async function playCall(accountId: string, played: PlayedCall): Promise<void> {
  const { route, run, charge, cost, end } = played;
  const [provider = '', upstreamModel = ''] = route.split(' ');
  const start = { ...startOf(accountId, 1_000n), ...(run && { run: { id: run } }) };
  await desk.calls.executions.begin(start);
  if (end === 'open') return;
  if (end === 'failed') {
    await desk.calls.executions.fail(start, {
      ...FAILURE,
      provider,
      upstreamModel,
      costMicroUsd: cost,
    });
    return;
  }
  const success = { ...successOf(charge), provider, upstreamModel, costMicroUsd: cost };
  await desk.calls.executions.succeed(start, success);
  if (end === 'refunded' && charge > 0n) {
    await desk.dataSource.query(
      `SELECT execution_refund_v3($1, $2::uuid, NULL, $2::uuid::text, 'n', NULL)`,
      [accountId, start.executionId],
    );
  }
  if (end === 'undone') {
    await desk.dataSource.query(
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
        const accountId = await fundedAccount(desk.dataSource, CREDIT);
        const all = none();
        const byRoute = new Map<string, Sums>(ROUTES.map((route) => [route, none()]));
        const byRun = new Map<string, Sums>(['', 'r1'].map((run) => [run, none()]));
        for (const played of history) {
          await playCall(accountId, played);
          for (const sums of [all, byRoute.get(played.route), byRun.get(played.run ?? '')]) {
            if (sums) counted(sums, played);
          }
          if (played.foldsAfter) await desk.foldAll();
        }
        const [whole] = await desk.rowsBy(accountId, 'account');
        expectSums(whole, all);
        const routes = await desk.rowsBy(accountId, 'provider', 'upstream_model');
        for (const [route, sums] of byRoute) {
          const isOf = (row: UsageRow) => `${row.provider} ${row.upstream_model}` === route;
          expectSums(routes.find(isOf), sums);
        }
        const runs = await desk.rowsBy(accountId, 'run');
        for (const [run, sums] of byRun)
          expectSums(
            runs.find((row) => row.run === run),
            sums,
          );
        expect((await auditBooks(desk.dataSource, 'full')).discrepancies).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['a record', 'UPDATE execution SET cost = 4 WHERE account_id = $1 AND cost IS NULL', 1],
    ['an account', 'UPDATE usage_account SET cost = cost + 1 WHERE account_id = $1', 2],
    ['a day', 'UPDATE usage_day SET cost = cost + 1 WHERE account_id = $1', 4],
    ['a month', 'UPDATE usage_month SET cost = cost + 1 WHERE account_id = $1', 1],
  ])('that differ in %s are found by a full audit', async (_where, damage, findings) => {
    const own = await UsageDesk.open();
    try {
      const { dataSource, calls } = own;
      const accountId = await fundedAccount(dataSource, CREDIT);
      for (const costMicroUsd of [3n, null]) {
        const start = startOf(accountId, 10n);
        await calls.executions.begin(start);
        await calls.executions.succeed(start, { ...successOf(10n), costMicroUsd });
      }
      await own.foldAll();
      expect((await auditBooks(dataSource, 'full')).ok).toBe(true);
      await dataSource.query(damage, [accountId]);
      expect((await auditBooks(dataSource, 'full')).discrepancies).toHaveLength(findings);
    } finally {
      await own.close();
    }
  });

  it('are written once, at the end of a call, and bounded', async () => {
    const accountId = await fundedAccount(desk.dataSource, CREDIT);
    const start = startOf(accountId, 10n);
    const write = (cost: string) =>
      desk.dataSource.query('UPDATE execution SET cost = $2 WHERE id = $1', [
        start.executionId,
        cost,
      ]);
    await desk.calls.executions.begin(start);
    await expect(write('5')).rejects.toThrow('execution_is_sound');
    await desk.calls.executions.succeed(start, { ...successOf(10n), costMicroUsd: 5n });
    await expect(write('6')).rejects.toThrow('is final');
    await expect(write('5')).resolves.toBeDefined();
    const other = startOf(accountId, 10n);
    await desk.calls.executions.begin(other);
    await desk.calls.executions.succeed(other, successOf(10n));
    const late = (cost: string) =>
      desk.dataSource.query('UPDATE execution SET cost = $2 WHERE id = $1', [
        other.executionId,
        cost,
      ]);
    await expect(late('-1')).rejects.toThrow('execution_is_sound');
    await expect(late('1000000000000001')).rejects.toThrow('execution_is_sound');
  });
});
