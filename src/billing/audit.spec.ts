import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { SystemClock } from '../common/time/clock.js';
import { auditLedger } from './audit.js';
import { LedgerService } from './ledger.service.js';

const owner = 'task';

describe('auditLedger', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let accountId: string;
  const holdId = randomUUID();
  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    const ledger = new LedgerService(dataSource, new SystemClock());
    accountId = (await ledger.createAccount('audited')).id;
    await ledger.credit({ accountId, amountMicroUsd: 100n, idempotencyKey: 'k', reference: null });
    await ledger.hold(dataSource, { accountId, holdId, amountMicroUsd: 30n, owner });
    await ledger.settle(dataSource, accountId, holdId, 30n);
    await ledger.hold(dataSource, { accountId, holdId: randomUUID(), amountMicroUsd: 20n, owner });
  });
  afterAll(() => database.drop());

  it('sums up books that are right', async () => {
    expect(await auditLedger(dataSource)).toEqual({
      ok: true,
      accounts: 1,
      postedMicroUsd: 70n,
      entriesMicroUsd: 70n,
      heldMicroUsd: 20n,
      openHoldsMicroUsd: 20n,
      discrepancies: [],
    });
  });

  it.each([
    ['posted is the sum of entries', `UPDATE account SET posted = posted + 1`],
    ['held is the sum of open holds', `UPDATE account SET held = held - 1`],
    [
      'every settled hold has one charge of its amount',
      `UPDATE hold SET settled_amount = 29 WHERE state = 'settled'`,
    ],
    [
      'balance_after continues the entry before',
      `ALTER TABLE ledger_entry DISABLE TRIGGER USER; UPDATE ledger_entry SET balance_after = 71 WHERE kind = 'charge'`,
    ],
    [
      'the account exists',
      `INSERT INTO hold (account_id, id, amount, owner) VALUES ('00000000-0000-7000-8000-000000000000', gen_random_uuid(), 1, 'x')`,
    ],
  ])('names the broken rule: %s', async (rule, damage) => {
    const broken = await createTestDatabase();
    try {
      await broken.dataSource.query(
        `INSERT INTO account (id, name, posted, held) VALUES ('${accountId}', 'copy', 70, 20)`,
      );
      await broken.dataSource.query(
        `INSERT INTO hold (account_id, id, amount, owner, state, settled_amount, resolved_at)
         VALUES ('${accountId}', '${holdId}', 30, 'x', 'settled', 30, now()), ('${accountId}', gen_random_uuid(), 20, 'x', 'open', NULL, NULL)`,
      );
      await broken.dataSource.query(
        `INSERT INTO ledger_entry (account_id, kind, amount, balance_after, hold_id)
         VALUES ('${accountId}', 'credit', 100, 100, NULL), ('${accountId}', 'charge', -30, 70, '${holdId}')`,
      );
      expect((await auditLedger(broken.dataSource)).ok).toBe(true);
      await broken.dataSource.query(damage);
      const report = await auditLedger(broken.dataSource);
      expect(report.ok).toBe(false);
      expect(report.discrepancies.map((found) => found.rule)).toContain(rule);
    } finally {
      await broken.drop();
    }
  });
});
