import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { ledgerOf, startOf, successOf } from '../../../test/support/test-ledger.js';
import { auditLedger } from './audit.js';
import { LedgerAudit } from './ledger-audit.js';
import { LedgerService } from '../ledger/ledger.service.js';

const owner = 'task';

describe('auditLedger', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let accountId: string;
  const holdId = randomUUID();
  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    const ledger = new LedgerService(dataSource);
    accountId = await fundedAccount(dataSource, 100n);
    await ledger.hold(dataSource, { accountId, holdId, amountMicroUsd: 30n, owner });
    await ledger.settle(dataSource, accountId, holdId, 30n);
    await ledger.hold(dataSource, { accountId, holdId: randomUUID(), amountMicroUsd: 20n, owner });
  });
  afterAll(() => database.drop());

  it('reports the sums of a ledger without errors', async () => {
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
      `ALTER TABLE hold DISABLE TRIGGER USER; UPDATE hold SET settled_amount = 29 WHERE state = 'settled'`,
    ],
    [
      'balance_after continues the entry before',
      `ALTER TABLE ledger_entry DISABLE TRIGGER USER; UPDATE ledger_entry SET balance_after = 71 WHERE kind = 'charge'`,
    ],
    [
      'a call ends within a day',
      `INSERT INTO gateway_process (id, lease_until) VALUES (gen_random_uuid(), now());
       INSERT INTO execution (account_id, id, process_id, created_at, held, model, endpoint)
         SELECT id, gen_random_uuid(), gen_random_uuid(), now() - interval '25 hours', 1, 'm', '/' FROM account;
       UPDATE account SET held = held + 1`,
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

  describe('of what is new', () => {
    const audit = () => auditLedger(dataSource, 'new');
    const rules = async (scope: 'full' | 'new') =>
      (await auditLedger(dataSource, scope)).discrepancies.map(({ rule }) => rule);
    const ended = async (fields: { charged: number; unit_price: string }) => {
      const start = startOf(accountId, 100n);
      const { executions } = ledgerOf(dataSource);
      const { charged, unit_price: unitPrice } = fields;
      const basis = { unit: 'code_point', quantity: 2, unitPrice, isEstimated: false } as const;
      await executions.begin(start);
      await executions.succeed(start, { ...successOf(BigInt(charged)), basis });
      return start.executionId;
    };

    beforeAll(async () => {
      const ledger = new LedgerService(dataSource);
      await ledger.credit({
        accountId,
        amountMicroUsd: 900n,
        idempotencyKey: 'l',
        reference: null,
      });
    });

    it('returns the same sums as a full audit and starts where the last one ended', async () => {
      const id = await ended({ charged: 80, unit_price: '40' });
      const full = await auditLedger(dataSource, 'full');
      expect(full.ok).toBe(true);
      await ended({ charged: 60, unit_price: '30' });
      const fresh = await audit();
      expect(fresh).toEqual(await auditLedger(dataSource, 'full'));
      const [state] = await dataSource.query<Record<string, unknown>[]>(
        `SELECT ok, executions_from > '-infinity' AS goes_on, finished_at IS NOT NULL AS is_dated FROM audit_state`,
      );
      expect(state).toEqual({ ok: true, goes_on: true, is_dated: true });
      // What was proven before is read again only by a full audit.
      await dataSource.query(
        `UPDATE execution SET created_at = created_at - interval '1 day', charged = 79 WHERE id = $1`,
        [id],
      );
      expect(await rules('new')).toEqual([]);
      expect(await rules('full')).toContain('every settled hold has one charge of its amount');
      await dataSource.query(`UPDATE execution SET charged = 80 WHERE id = $1`, [id]);
      expect(await rules('full')).toEqual([]);
    });

    it('compares executions with entries, and charges with quantities and unit prices', async () => {
      const id = await ended({ charged: 50, unit_price: '25' });
      await dataSource.query(`UPDATE execution SET unit_price = '"24"' WHERE id = $1`, [id]);
      expect(await rules('new')).toEqual(['a charge is the sum of its lines, at most its hold']);
      await dataSource.query(`UPDATE execution SET unit_price = '"25"' WHERE id = $1`, [id]);
      await dataSource.query(
        `UPDATE execution SET status = 'failed', charged = NULL WHERE id = $1`,
        [id],
      );
      expect(await rules('new')).toEqual(['every settled hold has one charge of its amount']);
      await dataSource.query(
        `UPDATE execution SET status = 'succeeded', charged = 50 WHERE id = $1`,
        [id],
      );
      expect(await rules('new')).toEqual([]);
    });

    it('recomputes estimated charges, but for those of version 0.1.0, which charged the whole hold (G-24)', async () => {
      const id = await ended({ charged: 100, unit_price: '50' });
      const counts = { promptTokens: 10, cachedTokens: null, completionTokens: 5 };
      const prices = { inputPerMillion: '1000000', outputPerMillion: '2000000' };
      const estimate = (quantity: object) =>
        dataSource.query(
          `UPDATE execution SET estimated = true, unit = 'token', quantity = $2, unit_price = $3 WHERE id = $1`,
          [id, JSON.stringify(quantity), JSON.stringify(prices)],
        );
      await estimate(counts);
      expect(await rules('new')).toEqual([]);
      await estimate({ ...counts, isEstimated: true });
      expect(await rules('new')).toEqual(['a charge is the sum of its lines, at most its hold']);
      // 10 at 1 and 45 at 2 micro-USD are the charge; more is cut at the hold.
      for (const completionTokens of [45, 900]) {
        await estimate({ ...counts, completionTokens, isEstimated: true });
        expect(await rules('new')).toEqual([]);
      }
    });

    it('runs once an hour in one process of all', async () => {
      const audits = [1, 2, 3].map(() => new LedgerAudit(dataSource, { start: () => 0 } as never));
      const ran = await Promise.all(audits.map((each) => each.tick()));
      expect(ran.filter(Boolean)).toHaveLength(1);
      await dataSource.query(`UPDATE audit_state SET claimed_at = now() - interval '61 minutes'`);
      expect(await audits[0]!.tick()).toBe(true);
    });
  });
});
