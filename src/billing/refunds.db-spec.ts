import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../../test/support/test-ledger.js';
import { auditLedger } from './audit/audit.js';
import { LedgerService } from './ledger/ledger.service.js';

const RUNS = 15;
const CREDIT = 10_000n;
const CHARGE = 1_000n;

let database: TestDatabase;
let ledger: LedgerService;
beforeAll(async () => {
  database = await createTestDatabase();
  ledger = new LedgerService(database.dataSource);
});
afterAll(() => database.drop());

/** A call that was charged {@link CHARGE}. */
async function paidCall(accountId: string): Promise<string> {
  const { executions } = ledgerOf(database.dataSource);
  const start = startOf(accountId, CHARGE);
  await executions.begin(start);
  await executions.succeed(start, successOf(CHARGE));
  return start.executionId;
}

async function availableOf(accountId: string): Promise<bigint> {
  const [row] = await database.dataSource.query<{ available: string }[]>(
    'SELECT posted - held AS available FROM account WHERE id = $1',
    [accountId],
  );
  return BigInt(row?.available ?? -1);
}

/** The amounts of which each, tried alone in any order, is given back once. */
const attempts = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    amount: fc.option(fc.bigInt({ min: 1n, max: CHARGE }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 8 },
);

describe('refunds of one charge', () => {
  it('never exceed it in sum when they run at once, and each key refunds once', async () => {
    await fc.assert(
      fc.asyncProperty(attempts, async (asked) => {
        const accountId = await fundedAccount(database.dataSource, CREDIT);
        const id = await paidCall(accountId);
        const outcomes = await Promise.allSettled(
          asked.map(({ key, amount: amountMicroUsd }) =>
            ledger.refund({ of: 'execution', id, amountMicroUsd, idempotencyKey: key, note: null }),
          ),
        );
        const entries = new Map<string, bigint>();
        for (const outcome of outcomes) {
          if (outcome.status === 'fulfilled') {
            entries.set(outcome.value.id, outcome.value.amountMicroUsd);
          }
        }
        const given = [...entries.values()].reduce((sum, amount) => sum + amount, 0n);
        expect(given).toBeLessThanOrEqual(CHARGE);
        expect(entries.size).toBeLessThanOrEqual(new Set(asked.map(({ key }) => key)).size);
        expect(await availableOf(accountId)).toBe(CREDIT - CHARGE + given);
        const [row] = await database.dataSource.query<{ refunded: string | null }[]>(
          'SELECT refunded FROM execution WHERE id = $1',
          [id],
        );
        expect(BigInt(row?.refunded ?? 0)).toBe(given);
        expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true });
      }),
      { numRuns: RUNS },
    );
  });

  it('cannot exceed it even by a direct insert', async () => {
    const accountId = await fundedAccount(database.dataSource, CREDIT);
    const id = await paidCall(accountId);
    const write = (amount: bigint) =>
      database.dataSource.query(
        `INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after)
         VALUES ($1, $2, 'correction', $3, 1)`,
        [accountId, id, amount.toString()],
      );
    await expect(write(CHARGE + 1n)).rejects.toThrow(/are 1000 left/);
    await ledger.refund({ of: 'execution', id, note: null });
    await expect(write(1n)).rejects.toThrow(/are 0 left/);
    await expect(
      database.dataSource.query('UPDATE execution SET refunded = charged + 1 WHERE id = $1', [id]),
    ).rejects.toThrow('execution_is_sound');
  });

  it('have idempotency keys per call', async () => {
    const accountId = await fundedAccount(database.dataSource, CREDIT);
    const ids = [await paidCall(accountId), await paidCall(accountId)];
    for (const id of ids) {
      const part = { amountMicroUsd: 100n, idempotencyKey: 'ticket' };
      await ledger.refund({ of: 'execution', id, note: null, ...part });
    }
    expect(await availableOf(accountId)).toBe(CREDIT - 2n * CHARGE + 200n);
  });
});
