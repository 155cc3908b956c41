import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { accountsOf, fundedAccount } from '../../../test/support/test-ledger.js';
import { transaction } from '../../platform/database/transaction.js';
import { monthOf } from './dto/statement.query.js';
import { BALANCES, CHARGES, ENTRIES } from './statement-queries.js';
import { pageOfStatement } from './statement-page.js';
import { csvOfRows, rowsOf } from './statement-rows.js';
import { MAX_LISTED_ENTRIES, Statements } from './statements.js';

const BATCHES = 3;
const CHARGES_OF_BATCH = 10_000;
const CREDITS_OF_MONTH = 30;
/** Pages that a statement of a statement may read, of tables and indexes, however many charges there are. */
const MAX_PAGES = 200;
const WRITERS = 4;
const ENTRIES_PER_WRITER = 25;

interface Plan {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<string, number>> }];
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const query = <T>(text: string, values: unknown[] = []) =>
  database.dataSource.query<T[]>(text, values);

async function pagesOf(statement: string, values: unknown[]): Promise<number> {
  const [row] = await query<Plan>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`, values);
  const plan = row!['QUERY PLAN'][0].Plan;
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** Six weeks of many charges, which lie two minutes apart, and of few credits. */
async function busyMonth(): Promise<string> {
  const { dataSource } = database;
  const accountId = (await accountsOf(dataSource).create('busy')).id;
  await transaction(dataSource, async (manager) => {
    await manager.query(`SELECT set_config('statement_timeout', '0', true)`);
    const charge = (from: number, to: number) =>
      manager.query(
        `INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, created_at)
         SELECT $1, gen_random_uuid(), 'charge', -1, 1000000 - n, timestamptz '2026-01-20Z' + n * interval '2 minutes'
           FROM generate_series($2::int, $3::int) n`,
        [accountId, from, to - 1],
      );
    await charge(0, CHARGES_OF_BATCH);
    await manager.query(
      `INSERT INTO ledger_entry (account_id, kind, amount, balance_after, created_at, credit_kind)
       SELECT $1, 'credit', 5, 1000000 + 5 * n, timestamptz '2026-02-02T21:20Z', 'paid' FROM generate_series(1, $2::int) n`,
      [accountId, CREDITS_OF_MONTH],
    );
    for (let batch = 1; batch < BATCHES; batch++) {
      await charge(batch * CHARGES_OF_BATCH, (batch + 1) * CHARGES_OF_BATCH);
    }
  });
  await query('VACUUM ANALYZE ledger_entry, account, usage_day, usage_refund');
  return accountId;
}

describe('what a statement reads', () => {
  it('does not grow with the charges of its month', async () => {
    const accountId = await busyMonth();
    const month = [accountId, '2026-02-01'];
    const [ends] = await query<{ p_from: string; p_to: string }>(BALANCES, month);
    expect(Number(ends?.p_to) - Number(ends?.p_from)).toBeGreaterThan(28 * 720 - 5);
    expect(await pagesOf(BALANCES, month)).toBeLessThan(MAX_PAGES);
    const range = [...month, ends?.p_from, ends?.p_to, MAX_LISTED_ENTRIES];
    expect(await query(ENTRIES, range)).toHaveLength(CREDITS_OF_MONTH);
    expect(await pagesOf(ENTRIES, range)).toBeLessThan(MAX_PAGES);
    expect(await pagesOf(CHARGES, [...month, 1_000, '{}'])).toBeLessThan(MAX_PAGES);
  }, 60_000);

  it('is a bounded list of entries; the rest is in the sums, and counted', async () => {
    const accountId = (await accountsOf(database.dataSource).create('many')).id;
    const credits = MAX_LISTED_ENTRIES + 7;
    await query(
      `INSERT INTO ledger_entry (account_id, kind, amount, balance_after, created_at, credit_kind, payment_reference, tax)
       SELECT $1, 'credit', 2, 2 * n, timestamptz '2026-03-10Z' + n * interval '1 second', 'paid', '<invoice ' || n, 3 FROM generate_series(1, $2::int) n`,
      [accountId, credits],
    );
    const statement = await new Statements(database.dataSource, { music: () => [] }).read(
      accountId,
      monthOf('2026-03'),
    );
    expect(statement.credits.entries).toHaveLength(MAX_LISTED_ENTRIES);
    expect(statement.credits).toMatchObject({ count: credits, totalMicroUsd: BigInt(2 * credits) });
    expect(statement.closingMicroUsd).toBe(BigInt(2 * credits));
    expect(pageOfStatement(statement, false)).toContain('&lt;invoice 1000<');
    expect(csvOfRows(statement, rowsOf(statement)).split('\r\n')[2]).toContain(
      ',paid,,<invoice 1,,3,2,',
    );
    expect(statement.taxMicroUsd).toBe(BigInt(3 * credits));
  });

  it('is at every moment the sum of the entries before it, of writers whose transactions wait for each other', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, 1_000n);
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        for (let nr = 0; nr < ENTRIES_PER_WRITER; nr++) {
          await transaction(dataSource, async (manager) => {
            await manager.query('SELECT pg_sleep(random() * 0.03)');
            await manager.query(`SELECT ledger_credit($1, 3, 'credit', $2, NULL)`, [
              accountId,
              randomUUID(),
            ]);
            await manager.query('SELECT pg_sleep(random() * 0.005)');
          });
        }
      }),
    );
    const [inversions] = await query<{ count: number }>(
      `SELECT count(*)::int AS count FROM (
         SELECT created_at < lag(created_at) OVER (ORDER BY position) AS is_earlier FROM ledger_entry WHERE account_id = $1) e
        WHERE is_earlier`,
      [accountId],
    );
    // Without entries that stand in another order than their times, nothing is proven.
    expect(inversions?.count).toBeGreaterThan(0);
    const wrong = await query(
      `SELECT m.at, b.balance, s.amount FROM (
         SELECT DISTINCT created_at AS at FROM ledger_entry WHERE account_id = $1
         UNION SELECT created_at + interval '1 microsecond' FROM ledger_entry WHERE account_id = $1) m,
       LATERAL ledger_balance_at($1, m.at) b,
       LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM ledger_entry WHERE account_id = $1 AND created_at < m.at) s
       WHERE b.balance <> s.amount`,
      [accountId],
    );
    expect(wrong).toEqual([]);
  });
});
