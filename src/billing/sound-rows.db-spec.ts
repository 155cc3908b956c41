import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../../test/support/test-ledger.js';

const FUNDS = 1_000n;
const HELD = 100n;

let db: TestDatabase;
let accountId: string;
beforeAll(async () => {
  db = await createTestDatabase();
  accountId = await fundedAccount(db.dataSource, FUNDS);
});
afterAll(() => db.drop());

/** The names and values of an entry that differ from a charge of 10 micro-USD. */
async function insertEntry(columns: string, values: string): Promise<void> {
  const given = new Map(
    columns.split(', ').map((name, index) => [name, values.split(', ')[index]]),
  );
  const usual = new Map([
    ['account_id', `'${accountId}'`],
    ['balance_after', '990'],
    ['kind', `'charge'`],
    ['amount', '-10'],
    ['hold_id', 'gen_random_uuid()'],
  ]);
  const row = new Map([...usual, ...given]);
  await db.dataSource.query(
    `INSERT INTO ledger_entry (${[...row.keys()].join(', ')}) VALUES (${[...row.values()].join(', ')})`,
  );
}

describe('the constraint of the ledger', () => {
  it.each([
    ['amount', '0'],
    ['amount', '10'],
    ['balance_after', '-1'],
    ['hold_id', 'NULL'],
    ['kind', `'gift'`],
    ['refund_key', `'a'`],
    ['reason', `'fault'`],
    ['credit_kind', `'paid'`],
    ['expires_at', 'now()'],
    ['payment_reference', `'a'`],
    ['currency', `'USD'`],
    ['tax', '1'],
    ['credit_position', '0'],
    ['kind, amount, hold_id', `'credit', -10, NULL`],
    ['kind, amount', `'credit', 10`],
    ['kind, amount, hold_id, credit_kind', `'credit', 10, NULL, 'lent'`],
    ['kind, amount, hold_id, tax', `'credit', 10, NULL, -1`],
    ['kind, amount, hold_id, reason', `'credit', 10, NULL, 'fault'`],
    ['kind, amount, hold_id, refund_key', `'credit', 10, NULL, 'a'`],
    ['kind, hold_id, reason', `'correction', NULL, 'mood'`],
    ['kind, hold_id, refund_key', `'correction', NULL, 'a'`],
    ['kind, hold_id, tax', `'correction', NULL, 1`],
    ['kind, hold_id, credit_position', `'correction', NULL, 0`],
    ['kind, credit_position', `'expiry', 0`],
    ['kind, amount, hold_id, credit_position', `'expiry', 10, NULL, 0`],
    ['kind, hold_id, credit_position', `'expiry', NULL, 9000000000000000`],
    ['kind, hold_id, credit_position, currency', `'expiry', NULL, 0, 'USD'`],
  ])('refuses an entry with %s = %s', async (columns, values) => {
    await expect(insertEntry(columns, values)).rejects.toThrow('ledger_entry_is_sound');
  });

  it('takes a charge, a credit of version 0.1.0, a correction and an expiry', async () => {
    await insertEntry('amount', '-10');
    await insertEntry('kind, amount, hold_id', `'credit', 10, NULL`);
    await insertEntry('kind, hold_id, reason', `'correction', NULL, 'goodwill'`);
    await insertEntry('kind, hold_id, credit_position', `'expiry', NULL, 0`);
  });
});

describe('the constraint of calls', () => {
  it.each([
    'held = -1',
    'charged = 1',
    'cost = 1',
    'refunded = 1',
    'completed_at = now()',
    `status = 'failed'`,
    `status = 'succeeded', completed_at = now()`,
    `status = 'failed', completed_at = now(), held = -1`,
    `status = 'failed', completed_at = now(), charged = 1`,
    `status = 'succeeded', completed_at = now(), charged = -1`,
    `status = 'succeeded', completed_at = now(), charged = held + 1`,
    `status = 'succeeded', completed_at = now(), charged = 5, refunded = 6`,
    `status = 'succeeded', completed_at = now(), charged = 5, refunded = 0`,
    `status = 'succeeded', completed_at = now(), charged = 5, cost = -1`,
    `status = 'succeeded', completed_at = now(), charged = 5, cost = 1000000000000001`,
    `status = 'lost', completed_at = now()`,
  ])('refuses a running call that gets %s', async (change) => {
    const start = startOf(accountId, HELD);
    const { executions } = ledgerOf(db.dataSource);
    await executions.begin(start);
    await expect(
      db.dataSource.query(`UPDATE execution SET ${change} WHERE id = '${start.executionId}'`),
    ).rejects.toThrow('execution_is_sound');
    await executions.succeed(start, successOf(0n));
  });
});

describe('the constraint of accounts', () => {
  it.each([
    'held = -1',
    'held = posted + 1',
    'in_lots = -1',
    'in_lots = posted + 1',
    'low_balance = 0',
  ])('refuses %s', async (change) => {
    await expect(
      db.dataSource.query(`UPDATE account SET ${change} WHERE id = '${accountId}'`),
    ).rejects.toThrow('account_is_sound');
  });
});
