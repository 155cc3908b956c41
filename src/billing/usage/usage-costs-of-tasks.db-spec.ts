import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endTask } from '../../../test/support/end-task.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { auditBooks } from '../audit/usage-audit.js';
import { marginOf } from '../cost-sums.js';

const RUNS = 12;
const RESERVED = 200;

let desk: UsageDesk;
beforeAll(async () => {
  desk = await UsageDesk.open();
});
afterAll(() => desk.close());

const cost = fc.option(fc.nat(500));
const charge = fc.constantFrom(0, 1, RESERVED);
const oneTask = fc.record({
  end: fc.oneof(charge, fc.constantFrom('failed' as const, 'expired' as const)),
  cost,
  /** Delivered after it had failed. */
  late: fc.option(fc.record({ charge, cost })),
  foldsBetween: fc.boolean(),
});
type PlayedTask = typeof oneTask extends fc.Arbitrary<infer T> ? T : never;

async function play(accountId: string, played: PlayedTask): Promise<string> {
  const { dataSource } = desk;
  const id = uuidV7(Date.now());
  await dataSource.query(
    `SELECT task_submit_v2($1, $2, NULL, 'video', 'video', 'm', NULL, '', '{}', 'vendor', '', false, 'v',
       'waiting:vendor', ${RESERVED}, NULL, NULL, NULL, NULL, NULL, '/v1/videos', NULL, NULL, false, NULL, NULL, NULL, 7)`,
    [accountId, id],
  );
  await endTask(dataSource, accountId, id, played.end, played.cost);
  if (played.foldsBetween) await desk.foldAll();
  if (typeof played.end === 'string' && played.late) {
    const { charge: late, cost: lateCost } = played.late;
    await endTask(dataSource, accountId, id, { late }, lateCost);
  }
  return id;
}

/** What the record says that the task costs: the first known cost stays. */
function costIn({ end, cost: first, late }: PlayedTask): number | null {
  return first ?? (typeof end === 'string' && late ? late.cost : null);
}

describe('costs of tasks in usage', () => {
  it('are what the records cost, folded or not, also of tasks that were delivered late', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(oneTask, { minLength: 1, maxLength: 6 }), async (history) => {
        const { dataSource } = desk;
        const accountId = await fundedAccount(dataSource, 100_000n);
        let charged = 0;
        let isWhole = true;
        for (const played of history) {
          const id = await play(accountId, played);
          const [record] = await dataSource.query<object[]>(
            'SELECT cost, route_cost FROM task WHERE id = $1',
            [id],
          );
          const known = costIn(played);
          expect(record).toEqual({ cost: known === null ? null : `${known}`, route_cost: '7' });
          const sold = typeof played.end === 'number' ? played.end : (played.late?.charge ?? 0);
          charged += sold;
          if (known === null && (typeof played.end === 'number' || sold > 0)) isWhole = false;
        }
        const costs = history.reduce((sum, played) => sum + (costIn(played) ?? 0), 0);
        for (let fold = 0; fold < 2; fold++) {
          const [row] = await desk.rowsBy(accountId, 'provider', 'upstream_model');
          expect(row).toMatchObject({
            provider: 'vendor',
            upstream_model: 'v',
            calls: `${history.length}`,
            charged: `${charged}`,
            cost: `${costs}`,
          });
          if (row === undefined) continue;
          expect(marginOf(row).marginMicroUsd).toBe(isWhole ? BigInt(charged - costs) : null);
          await desk.foldAll();
        }
        expect((await auditBooks(dataSource, 'full')).discrepancies).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
