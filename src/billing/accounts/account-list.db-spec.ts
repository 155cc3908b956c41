import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { listAccounts, type ListedAccount } from './account-list.js';
import { NIL_UUID } from '../usage/usage-request.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => query('TRUNCATE account, usage_day'));
afterAll(() => database.drop());

const query = (text: string, values: unknown[] = []) => database.dataSource.query(text, values);

interface Day {
  readonly daysAgo: number;
  readonly charged: number;
}

/** An account so many days old, with a row of usage for each day, and the same in the sums of all accounts. */
async function make(ageDays: number, days: readonly Day[]): Promise<string> {
  const id = uuidV7(Date.now());
  await query(
    `INSERT INTO account (id, name, created_at) VALUES ($1, 'test', now() - $2::int * interval '1 day')`,
    [id, ageDays],
  );
  for (const [nr, { daysAgo, charged }] of days.entries())
    for (const owner of [id, NIL_UUID])
      await query(
        `INSERT INTO usage_day AS d (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged)
         VALUES ($1, (now() AT TIME ZONE 'UTC')::date - $2::int, $3, $4, '/v1/x', 1, 0, 1, $5)
         ON CONFLICT (account_id, day, api_key_id, model, endpoint, provider, upstream_model)
         DO UPDATE SET charged = d.charged + excluded.charged`,
        [owner, daysAgo, NIL_UUID, `m${nr}`, charged],
      );
  return id;
}

/** All pages, of two rows each. */
async function allOf(sort?: 'burn'): Promise<ListedAccount[]> {
  const found: ListedAccount[] = [];
  let cursor: string | undefined;
  do {
    const page = await listAccounts(database.dataSource, { sort, limit: 2, cursor });
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

describe('accounts', () => {
  it('have what was charged in seven days, per day that they existed, and are sorted by it', async () => {
    const day = fc.record({ daysAgo: fc.nat(9), charged: fc.integer({ min: -50, max: 1_000 }) });
    const one = fc.record({ ageDays: fc.nat(12), days: fc.array(day, { maxLength: 4 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 5 }), async (all) => {
        await query('TRUNCATE account, usage_day');
        const burns = new Map<string, bigint>();
        for (const { ageDays, days } of all) {
          const id = await make(ageDays, days);
          const charged = days
            .filter(({ daysAgo }) => daysAgo < 7)
            .reduce((sum, each) => sum + each.charged, 0);
          const burn = Math.floor(Math.max(0, charged) / Math.min(7, ageDays + 1));
          burns.set(id, BigInt(burn));
        }
        const newest = [...burns].sort(([a], [b]) => (a < b ? 1 : -1));
        const shown = (accounts: readonly ListedAccount[]) =>
          accounts.map(({ id, burnMicroUsdPerDay }) => [id, burnMicroUsdPerDay]);
        expect(shown(await allOf())).toEqual(newest);
        const most = newest.sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0));
        expect(shown(await allOf('burn'))).toEqual(most);
      }),
      { numRuns: 15 },
    );
  });
});
