import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LotCustomer, history, refused, step } from '../../../test/support/lot-customer.js';
import { LotBooks } from '../../../test/support/lot-books.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  accountsOf,
  IDLE_TICKER,
  ledgerOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { auditBooks } from '../audit/usage-audit.js';
import { CreditExpiry } from './credit-expiry.js';

const RUNS = 40;
const RACES = 6;
const RACERS = 8;
const STEPS_OF_RACER = 14;

describe('the kinds of money', () => {
  let database: TestDatabase;
  let calls: TestLedger;
  let expiry: CreditExpiry;
  beforeAll(async () => {
    database = await createTestDatabase();
    calls = ledgerOf(database.dataSource);
    await calls.process.heartbeat();
    expiry = new CreditExpiry(database.dataSource, IDLE_TICKER);
  });
  afterAll(() => database.drop());

  const newAccount = async () => (await accountsOf(database.dataSource).create('lots')).id;

  /** The audit finds no error, and something did expire, and did come back. */
  const proveBooks = async () => {
    expect(await auditBooks(database.dataSource, 'full')).toMatchObject({
      ok: true,
      discrepancies: [],
    });
    const [row] = await database.dataSource.query<{ expired: string; returned: string }[]>(
      `SELECT count(*) FILTER (WHERE kind = 'expiry') AS expired,
              count(*) FILTER (WHERE kind = 'correction' AND amount > 0) AS returned
         FROM ledger_entry JOIN ledger_entry_source USING (account_id, position)`,
    );
    expect(Number(row?.expired)).toBeGreaterThan(0);
    expect(Number(row?.returned)).toBeGreaterThan(0);
  };

  it('equal the model after every step of any history, and the audit finds no error', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const accountId = await newAccount();
        const customer = new LotCustomer(database.dataSource, calls, accountId);
        const books = new LotBooks(database.dataSource, accountId);
        for (const todo of steps) {
          let due: unknown = [];
          if (todo.do === 'expire') {
            due = books.oracle.due(await books.now(), await books.open());
            await database.dataSource.query('SELECT lots_expire($1)', [accountId]);
          } else if (todo.do === 'end') {
            const lots = books.oracle.lots.filter((known) => known.expiresAt !== null);
            const lot = lots[todo.nth % Math.max(1, lots.length)];
            if (lot) await books.end(lot.position);
          } else await customer.take(todo);
          const { noted, expected, expired } = await books.follow();
          expect(noted).toEqual(expected);
          expect(expired).toEqual(due);
          const [found, wanted] = await books.remaining();
          expect(found).toEqual(wanted);
        }
      }),
      { numRuns: RUNS },
    );
    await proveBooks();
  });

  it('equal the model when calls, tasks, credits, refunds and expiries meet', async () => {
    const racers = fc.array(fc.array(step, { minLength: 4, maxLength: STEPS_OF_RACER }), {
      minLength: RACERS,
      maxLength: RACERS,
    });
    await fc.assert(
      fc.asyncProperty(racers, async (histories) => {
        const accountId = await newAccount();
        const books = new LotBooks(database.dataSource, accountId);
        const customers = histories.map(
          () => new LotCustomer(database.dataSource, calls, accountId),
        );
        await customers[0]!.credit(500n, 'paid', null);
        await Promise.all(
          histories.map(async (steps, racer) => {
            const customer = customers[racer]!;
            for (const todo of steps) {
              if (todo.do === 'end') {
                const soon = new Date(Date.now() + 50 + 40 * todo.nth);
                await customer.credit(40n, 'granted', soon).catch(refused);
              } else if (todo.do === 'expire') await expiry.tick();
              else await customer.take(todo);
            }
            while (customer.open.length > 0) {
              await customer.take({ do: 'settle', nth: 0, perMille: 700n });
            }
          }),
        );
        const { noted, expected } = await books.follow();
        expect(noted).toEqual(expected);
        const [found, wanted] = await books.remaining();
        expect(found).toEqual(wanted);
      }),
      { numRuns: RACES, endOnFailure: true },
    );
    await proveBooks();
  });
});
