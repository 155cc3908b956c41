import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { type Reconciliation, VendorReconciliation } from './vendor-reconciliation.js';
import { DAY_MS } from '../../common/time/spans.js';

const RUNS = 15;
const folder = mkdtempSync(join(tmpdir(), 'shim-bill-'));
let database: TestDatabase;
let calls: TestLedger;
let accountId: string;
let bills: VendorReconciliation;
let providers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  calls = ledgerOf(database.dataSource);
  accountId = await fundedAccount(database.dataSource, 1_000_000_000n);
  bills = new VendorReconciliation(database.dataSource);
});
afterAll(() => database.drop());

/** What a call cost us, and what the vendor bills for it: micro-USD; null: not known, not billed. */
interface Played {
  readonly cost: bigint | null;
  readonly billed: bigint | null;
  readonly hasId: boolean;
}

const oneCall: fc.Arbitrary<Played> = fc.record({
  cost: fc.option(fc.bigInt(1n, 5n)),
  billed: fc.option(fc.bigInt(1n, 5n)),
  hasId: fc.constantFrom(true, true, true, false),
});

const usdOf = (micro: bigint): string => `0.${micro.toString().padStart(6, '0')}`;

/** Makes the calls of a provider of their own; returns its name and the bill. */
async function play(history: readonly Played[]): Promise<{ provider: string; bill: string }> {
  const provider = `vendor-${(providers += 1)}`;
  const lines = ['request id,amount'];
  for (const [index, { cost, billed, hasId }] of history.entries()) {
    const start = startOf(accountId, 10n);
    const requestId = hasId ? `${provider}-${index}` : null;
    await calls.executions.begin(start);
    await calls.executions.succeed(start, {
      ...successOf(1n),
      provider,
      providerRequestId: requestId,
      costMicroUsd: cost,
    });
    if (billed !== null && hasId) lines.push(`${requestId},${usdOf(billed)}`);
  }
  return { provider, bill: lines.join('\n') };
}

function compare(provider: string, text: string): Promise<Reconciliation> {
  const file = join(folder, `${provider}.csv`);
  writeFileSync(file, text);
  const day = DAY_MS;
  const [from, to] = [new Date(Date.now() - day), new Date(Date.now() + day)];
  return bills.compare(file, { provider, from, to });
}

const sumOf = (amounts: readonly (bigint | null)[]): bigint =>
  amounts.reduce<bigint>((sum, amount) => sum + (amount ?? 0n), 0n);

describe("a vendor's bill beside our records", () => {
  it('is matched, differs or lacks what it does in plain integers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(oneCall, { maxLength: 8 }), async (history) => {
        const { provider, bill } = await play(history);
        const foreign = ['other-1,0.5', 'other-2,0.25', 'other-1,0.5', 'no amount,x'];
        const found = await compare(provider, [bill, ...foreign].join('\n'));
        const named = history.filter(({ hasId }) => hasId);
        const billed = named.filter((call) => call.billed !== null);
        const differing = billed.filter(({ cost, billed: theirs }) => cost !== theirs);
        const alone = named.filter((call) => call.billed === null);
        const nameless = history.filter(({ hasId }) => !hasId);
        expect(found.sums).toMatchObject({
          requests: `${billed.length + 2}`,
          repeated: '1',
          matched: `${billed.length}`,
          matched_cost: `${sumOf(billed.map(({ cost }) => cost))}`,
          differing: `${differing.length}`,
          unknown_to_us: '2',
          unknown_to_us_usd: '1.25',
          unknown_to_them: `${alone.length}`,
          unknown_to_them_cost: `${sumOf(alone.map(({ cost }) => cost))}`,
          without_request_id: `${nameless.length}`,
        });
        expect(Number(found.sums.matched_usd) * 1e6).toBeCloseTo(
          Number(sumOf(billed.map((call) => call.billed))),
        );
        expect(found.unknownToUs.map((row) => row.request_id)).toEqual(['other-1', 'other-2']);
        expect(found.differing).toHaveLength(differing.length);
        expect(found.unknownToThem).toHaveLength(alone.length);
        expect(found.badLines).toMatchObject({ count: 1, shown: [{ line: billed.length + 5 }] });
      }),
      { numRuns: RUNS },
    );
  });

  it('is read as a stream: a hundred thousand lines are counted whole and shown in part', async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `req_${index},0.000001`);
    const found = await compare('vendor-of-many', lines.join('\n'));
    expect(found.sums).toMatchObject({ unknown_to_us: '100000', unknown_to_us_usd: '0.1' });
    expect(found.unknownToUs).toHaveLength(1_000);
  });

  it('of no file is refused by its name', async () => {
    const missing = bills.compare('/nowhere/bill.csv', { provider: 'x' });
    await expect(missing).rejects.toThrow(
      '/nowhere/bill.csv cannot be read by the gateway (ENOENT)',
    );
  });

  it('of another provider names no record of ours', async () => {
    const { bill } = await play([{ cost: 1n, billed: 1n, hasId: true }]);
    const { sums } = await compare('somebody-else', bill);
    expect(sums).toMatchObject({ matched: '0', unknown_to_us: '1', unknown_to_them: '0' });
  });
});
