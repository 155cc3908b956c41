import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { BURN_DAYS } from './account-burn.js';
import { findAccountsRunningDry } from './accounts-running-dry.js';

const RUNS = 20;
const DAYS = 3;
const LIMIT = 4;

/** An account, and what it was charged so many days ago. */
const SPENDER = fc.record({
  ageDays: fc.constantFrom(0, 2, 60),
  posted: fc.nat(2_000),
  held: fc.nat(500),
  disabled: fc.boolean(),
  charges: fc.array(fc.tuple(fc.nat(BURN_DAYS + 2), fc.integer({ min: -300, max: 3_000 })), {
    maxLength: 4,
  }),
});
type Spender = typeof SPENDER extends fc.Arbitrary<infer T> ? T : never;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A negative charge is what was given back. */
const REFUND = `
  INSERT INTO usage_refund AS r (account_id, day, api_key_id, model, endpoint, reason, amount)
  SELECT $1::uuid, (now() AT TIME ZONE 'UTC')::date - $2::int, $1, 'm', '/v1/x', '', $3::bigint WHERE $3::bigint > 0
  ON CONFLICT (account_id, day, api_key_id, model, endpoint, reason, provider, upstream_model)
    DO UPDATE SET amount = r.amount + excluded.amount`;
const MONTHS = `
  INSERT INTO usage_month (account_id, month, api_key_id, calls, failures, quantity, charged)
  SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, 1, 0, 1, sum(charged) FROM usage_day
   WHERE account_id = $1 GROUP BY 1, 2, 3`;

async function insert({ ageDays, posted, held, disabled, charges }: Spender): Promise<string> {
  const id = randomUUID();
  await database.dataSource.query(
    `INSERT INTO account (id, name, posted, held, disabled, created_at) VALUES ($1, 'acme', $2, $3, $4, now() - $5 * interval '1 day')`,
    [id, posted, Math.min(held, posted), disabled, ageDays],
  );
  for (const [daysAgo, charged] of charges) {
    await database.dataSource.query(
      `INSERT INTO usage_day AS d (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged)
       VALUES ($1, (now() AT TIME ZONE 'UTC')::date - $2::int, $1, 'm', '/v1/x', 1, 0, 1, $3)
       ON CONFLICT (account_id, day, api_key_id, model, endpoint, provider, upstream_model)
         DO UPDATE SET charged = d.charged + excluded.charged`,
      [id, daysAgo, charged],
    );
    await database.dataSource.query(REFUND, [id, daysAgo, -charged]);
  }
  await database.dataSource.query(MONTHS, [id]);
  return id;
}

const burnOf = ({ ageDays, charges }: Spender) =>
  Math.floor(
    Math.max(
      0,
      charges.filter(([ago]) => ago < BURN_DAYS).reduce((sum, [, charged]) => sum + charged, 0),
    ) / Math.min(BURN_DAYS, ageDays + 1),
  );

describe('accounts that run dry', () => {
  it('are those whose money lasts for fewer days at their burn, the first of them first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(SPENDER, { maxLength: 8 }), async (spenders) => {
        await database.dataSource.query(
          'TRUNCATE usage_day, usage_month, usage_refund, account CASCADE',
        );
        const dry = [];
        for (const spender of spenders) {
          const id = await insert(spender);
          const burn = burnOf(spender);
          const available = spender.posted - Math.min(spender.held, spender.posted);
          if (spender.disabled || burn === 0 || available >= burn * DAYS) continue;
          dry.push({ id, lasts: available / burn, available, burn });
        }
        const read = await findAccountsRunningDry(database.dataSource, {
          days: DAYS,
          limit: LIMIT,
        });
        expect(read.count).toBe(dry.length);
        const byTime = [...dry].sort((a, b) => a.lasts - b.lasts);
        expect(
          read.first.map(
            ({ availableMicroUsd: left, burnMicroUsdPerDay: burn }) => Number(left) / Number(burn),
          ),
        ).toEqual(byTime.slice(0, LIMIT).map(({ lasts }) => lasts));
        for (const found of read.first) {
          const wanted = dry.find(({ id }) => id === found.id);
          expect([Number(found.availableMicroUsd), Number(found.burnMicroUsdPerDay)]).toEqual([
            wanted?.available,
            wanted?.burn,
          ]);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
