import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import {
  BEGIN_MS,
  END_MS,
  plannedEntriesOf,
  moneyHistories,
  type MoneyHistory,
  MONTHS,
  writeHistory,
} from '../../../test/support/statement-histories.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { accountsOf } from '../../../test/support/test-ledger.js';
import { DAY_MS } from '../../common/time/spans.js';
import { monthOf } from './dto/statement.query.js';
import { Statements } from './statements.js';

const RUNS = 8;

let database: TestDatabase;
let dataSource: DataSource;
let statements: Statements;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = database.dataSource;
  statements = new Statements(dataSource, { music: () => [] });
});
afterAll(() => database.drop());

/** The sums begin anew; those of accounts of before are not looked at again. */
const setFolded = (ms: number) =>
  dataSource
    .query(`DELETE FROM usage_pending`)
    .then(() =>
      dataSource.query(`UPDATE usage_state SET folded_until = $1, candidate_at = NULL`, [
        new Date(ms),
      ]),
    );

/** Folds what began until then. */
async function foldUntil(ms: number): Promise<void> {
  await dataSource.query(
    `UPDATE usage_state SET candidate_at = $1, candidate_xid = pg_snapshot_xmin(pg_current_snapshot())`,
    [new Date(ms)],
  );
  await dataSource.query(`SELECT usage_fold('1000 days', '0')`);
}

const endOf = (month: string): number => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Date.UTC(year, number, 1);
};

/** The statement of a month by plain sums over the history. */
function oracleOf(history: MoneyHistory, month: string) {
  const [from, to] = [Date.parse(`${month}-01T00:00:00Z`), endOf(month)];
  const entries = plannedEntriesOf(history);
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const before = (ms: number) =>
    sum(entries.filter(({ atMs }) => atMs < ms).map(({ amount }) => amount));
  const now = entries.filter(({ atMs }) => atMs >= from && atMs < to);
  const part = (matches: (entry: (typeof now)[number]) => boolean) => {
    const amounts = now.filter(matches).map(({ amount }) => amount);
    return { total: sum(amounts), count: amounts.length };
  };
  const ended = history.calls.filter(
    ({ endedAtMs, charged }) =>
      charged !== null && endedAtMs !== null && endedAtMs >= from && endedAtMs < to,
  );
  const models = [...new Set(ended.map(({ model }) => model))].sort();
  return {
    opening: before(from),
    closing: before(to),
    credits: part(({ kind }) => kind === 'credit'),
    corrections: part(({ kind, call }) => kind === 'correction' && call === null),
    refunds: part(({ kind, call }) => kind === 'correction' && call !== null),
    expiries: part(({ kind }) => kind === 'expiry'),
    charged: 0 - part(({ kind }) => kind === 'charge').total,
    held: sum(
      history.calls
        .filter(({ beganAtMs, endedAtMs }) => beganAtMs < to && (endedAtMs ?? Infinity) >= to)
        .map(({ held }) => held),
    ),
    charges: models.map((model) => {
      const calls = ended.filter((call) => call.model === model);
      const quantity = sum(calls.map(({ held }) => held));
      return {
        model,
        calls: calls.length,
        quantity,
        amount: sum(calls.map(({ charged }) => charged ?? 0)),
      };
    }),
  };
}

async function read(accountId: string, month: string) {
  const statement = await statements.read(accountId, monthOf(month));
  const part = ({ totalMicroUsd, count }: (typeof statement)['credits']) => ({
    total: Number(totalMicroUsd),
    count,
  });
  return {
    isClosed: statement.isClosed,
    sums: {
      opening: Number(statement.openingMicroUsd),
      closing: Number(statement.closingMicroUsd),
      credits: part(statement.credits),
      corrections: part(statement.corrections),
      refunds: part(statement.refunds),
      expiries: part(statement.expiries),
      charged: Number(statement.chargesMicroUsd),
      held: Number(statement.heldMicroUsd),
      charges: statement.charges
        .map(({ model, calls, quantity, amountMicroUsd }) => ({
          model,
          calls,
          // Of a model whose quantity is zero no unit is known.
          quantity: quantity ?? 0,
          amount: Number(amountMicroUsd),
        }))
        .sort((one, other) => ((one.model ?? '') < (other.model ?? '') ? -1 : 1)),
    },
  };
}

describe('a statement', () => {
  it('is what the history says whatever is folded, and once closed never changes, also when records are dropped', async () => {
    await fc.assert(
      fc.asyncProperty(
        moneyHistories,
        fc.array(fc.integer({ min: BEGIN_MS, max: END_MS + 60 * DAY_MS }), { maxLength: 3 }),
        async (history, folds) => {
          await setFolded(BEGIN_MS - 60 * DAY_MS);
          const accountId = (await accountsOf(dataSource).create('history')).id;
          const ids = await writeHistory(dataSource, accountId, history);
          for (const ms of [BEGIN_MS, ...folds.toSorted(), END_MS + 90 * DAY_MS]) {
            await foldUntil(ms);
            let closing: number | undefined;
            for (const month of MONTHS) {
              const { isClosed, sums } = await read(accountId, month);
              const { credits, corrections, refunds, expiries, charged } = sums;
              const moved =
                credits.total + corrections.total - charged + refunds.total + expiries.total;
              expect(sums).toMatchObject({ opening: closing ?? sums.opening });
              closing = sums.opening + moved;
              expect(sums.closing).toBe(closing);
              expect([month, sums]).toEqual([month, oracleOf(history, month)]);
              if (ms < endOf(month)) expect(isClosed).toBe(false);
            }
          }
          // Calls that had ended when they were read are folded; what still runs is in no month.
          await foldUntil(END_MS + 91 * DAY_MS);
          await dataSource.query(
            `DELETE FROM execution WHERE account_id = $1 AND id = ANY ($2) AND status <> 'running'`,
            [accountId, ids],
          );
          for (const month of MONTHS) {
            const { isClosed, sums } = await read(accountId, month);
            expect([month, isClosed, sums]).toEqual([month, true, oracleOf(history, month)]);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('of no entry is of zeros; of an unknown account, and of a month to come, there is none', async () => {
    const accountId = (await accountsOf(dataSource).create('new')).id;
    expect((await read(accountId, '1970-01')).sums).toMatchObject({ opening: 0, closing: 0 });
    const unknown = '00000000-0000-4000-8000-000000000001';
    const missing = { code: 'not_found' };
    await expect(statements.read(unknown, monthOf('2026-01'))).rejects.toMatchObject(missing);
    await expect(statements.read(accountId, monthOf('9999-12'))).rejects.toMatchObject({
      ...missing,
      param: 'month',
    });
    for (const text of ['2026-13', '2026-00', '2026-1', '1969-12', '2026-01-01', 'x', '']) {
      expect(() => monthOf(text)).toThrow(/must be a month/);
    }
  });
});
