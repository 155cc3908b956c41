import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount, ledgerOf, startOf } from '../../../test/support/test-ledger.js';
import { ExecutionRepository } from '../calls/execution.repository.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('a statement that begins calls of several runs', () => {
  it('tells once of each that comes near its limit, also of one name at two accounts, and of no other', async () => {
    const { dataSource } = database;
    const accounts = await Promise.all([1, 2].map(() => fundedAccount(dataSource, 1_000n)));
    for (const id of accounts) {
      await dataSource.query(
        `INSERT INTO webhook_endpoint (account_id, id, url, origin, sealed_secret, events, created_at)
           VALUES ($1, $2, 'https://a.example/', 'https://a.example', 'sealed', '{limit.reached}', now())`,
        [id, randomUUID()],
      );
    }
    const [one = '', other = ''] = accounts;
    const holds: readonly (readonly [string, string, bigint, bigint?])[] = [
      [one, 'near', 70n, 100n],
      [other, 'near', 79n, 100n],
      [one, 'far', 70n, 100n],
      [one, 'free', 70n],
      [one, 'near', 15n, 100n],
      [one, 'all', 30n, 30n],
      [one, 'refused', 31n, 30n],
      [other, 'all', 10n, 10n],
      [one, 'near', 1n, 100n],
    ];
    const begins = holds.map(([accountId, id, amount, limitMicroUsd]) => {
      const start = { ...startOf(accountId, amount), run: { id, limitMicroUsd } };
      return { kind: 'begin', accountId, start } as const;
    });
    const { process } = ledgerOf(dataSource);
    await new ExecutionRepository(dataSource).commit(process.id, begins, true);
    const rows = await dataSource.query<{ account_id: string; body: Buffer }[]>(
      'SELECT account_id, body FROM webhook_delivery',
    );
    const told = rows.map((row) => {
      const { data } = JSON.parse(row.body.toString()) as { data: Record<string, unknown> };
      return `${row.account_id === one ? 'one' : 'other'} ${String(data.run)} ${String(data.percent)} ${String(data.spent_microusd)}`;
    });
    expect(told.sort()).toEqual(['one all 100 30', 'one near 80 86', 'other all 100 10']);
  });
});
