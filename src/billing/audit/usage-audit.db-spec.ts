import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  fundedAccount,
  IDLE_TICKER,
  ledgerOf,
  startOf,
  successOf,
} from '../../../test/support/test-ledger.js';
import { NIL_UUID } from '../usage/usage-request.js';
import { UsageRollup } from '../usage/usage-rollup.js';
import { auditBooks } from './usage-audit.js';

const PAUSE_MS = 20;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const newAccount = () => fundedAccount(database.dataSource, 1_000n);

async function buy(accountId: string): Promise<void> {
  const { executions } = ledgerOf(database.dataSource);
  const start = startOf(accountId, 10n);
  await executions.begin(start);
  await executions.succeed(start, successOf(5n));
}

/** Folds until the account's calls are folded; a transaction of any database of the server puts that off. */
async function foldAll(accountId: string): Promise<void> {
  const rollup = new UsageRollup(database.dataSource, IDLE_TICKER);
  for (;;) {
    await rollup.tick(0);
    const sql = 'SELECT FROM usage_account WHERE account_id = $1';
    if ((await database.dataSource.query<object[]>(sql, [accountId])).length > 0) return;
    await sleep(PAUSE_MS);
  }
}

describe('an audit of usage', () => {
  const rulesOf = async (scope: 'new' | 'full') =>
    (await auditBooks(database.dataSource, scope)).discrepancies.map(({ rule }) => rule);
  const DAY = 'usage of a day is what was charged on it';
  const ACCOUNT = 'usage of an account is the sum of its days';
  const MONTHS = 'usage of an account is the sum of its months';
  const EVERYBODY = 'usage of everybody is the sum of all accounts';
  const HOURS = 'usage of a day is the sum of its hours';

  it.each([
    [
      'a day with a micro-USD more',
      'UPDATE usage_day SET charged = charged + $2 WHERE account_id = $1',
      [DAY, ACCOUNT, EVERYBODY, HOURS],
    ],
    [
      'a charge on another day',
      'UPDATE usage_day SET day = day - $2::int WHERE account_id = $1',
      [DAY, DAY, EVERYBODY, EVERYBODY, HOURS, HOURS],
    ],
    [
      'an account with a micro-USD more',
      'UPDATE usage_account SET charged = charged + $2 WHERE account_id = $1',
      [ACCOUNT, MONTHS],
    ],
    [
      'a month with a micro-USD more',
      'UPDATE usage_month SET charged = charged + $2 WHERE account_id = $1',
      [MONTHS],
    ],
    [
      'a sum of everybody with a micro-USD more',
      `UPDATE usage_day SET charged = charged + $2 WHERE account_id = '${NIL_UUID}' AND model = 'aud-v4' AND $1::uuid IS NOT NULL`,
      [EVERYBODY, HOURS],
    ],
  ])('finds %s', async (_title, tamper, rules) => {
    const accountId = await newAccount();
    await buy(accountId);
    await foldAll(accountId);
    expect(await rulesOf('full')).toEqual([]);
    await database.dataSource.query(tamper, [accountId, 1]);
    // A day that was proven is compared again when it has a new entry.
    expect(await rulesOf('new')).toEqual([]);
    await buy(accountId);
    expect(await rulesOf('new')).toEqual(rules.includes(DAY) ? [DAY] : []);
    expect((await rulesOf('full')).sort()).toEqual([...rules].sort());
    // What a full audit found is found until it is mended.
    for (const scope of ['new', 'full', 'new'] as const) {
      expect((await rulesOf(scope)).sort()).toEqual([...rules].sort());
    }
    await database.dataSource.query(tamper, [accountId, -1]);
    expect(await rulesOf('new')).toEqual([]);
    expect(await rulesOf('full')).toEqual([]);
  });
});
