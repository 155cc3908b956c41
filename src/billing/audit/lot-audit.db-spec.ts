import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../../../test/support/test-ledger.js';
import { PAID } from '../credit-terms.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { auditLedger } from './audit.js';

describe('the audit of the kinds of money', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    const accountId = await fundedAccount(dataSource, 50n);
    const credit = { accountId, amountMicroUsd: 40n, reference: null };
    const terms = { ...PAID, kind: 'granted' } as const;
    await new LedgerService(dataSource).credit({ ...credit, idempotencyKey: 'g', terms });
    const { executions, process } = ledgerOf(dataSource);
    await process.heartbeat();
    const start = startOf(accountId, 60n);
    await executions.begin(start);
    await executions.succeed(start, successOf(55n));
  });
  afterAll(() => database.drop());

  it.each([
    ['what is in lots is the sum of the lots', 'UPDATE account SET in_lots = 3 WHERE in_lots = 0'],
    [
      'an entry is the sum of its sources',
      `ALTER TABLE ledger_entry_source DISABLE TRIGGER USER;
       UPDATE ledger_entry_source SET amounts = ARRAY[amounts[1], amounts[2] - 1]`,
    ],
    [
      'an entry is the sum of its sources',
      `ALTER TABLE ledger_entry_source DISABLE TRIGGER USER; UPDATE ledger_entry_source SET granted = -41`,
    ],
    [
      'a lot is its credit and what was taken from it and given back',
      'UPDATE credit_lot SET remaining = 3, is_empty = false; UPDATE account SET in_lots = 3',
    ],
  ])('names the broken rule: %s', async (rule, damage) => {
    const runner = dataSource.createQueryRunner();
    expect(await auditLedger(dataSource, 'full')).toMatchObject({ ok: true });
    const saved = `
      CREATE TEMPORARY TABLE lots AS SELECT * FROM credit_lot;
      CREATE TEMPORARY TABLE sources AS SELECT * FROM ledger_entry_source`;
    await runner.query(saved);
    try {
      await runner.query(damage);
      const { ok, discrepancies } = await auditLedger(dataSource, 'full');
      expect(ok).toBe(false);
      expect(discrepancies.map((found) => found.rule)).toContain(rule);
    } finally {
      await runner.query(`
        UPDATE account SET in_lots = 0 WHERE in_lots IS NOT NULL;
        UPDATE credit_lot l SET remaining = o.remaining, is_empty = o.is_empty FROM lots o WHERE o.position = l.position;
        ALTER TABLE ledger_entry_source DISABLE TRIGGER USER;
        UPDATE ledger_entry_source s SET amounts = o.amounts, granted = o.granted FROM sources o WHERE o.position = s.position;
        ALTER TABLE ledger_entry_source ENABLE TRIGGER USER;
        DROP TABLE lots; DROP TABLE sources`);
      await runner.release();
    }
  });
});
