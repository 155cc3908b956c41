import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { auditLedger } from '../../billing/audit/audit.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';

const RUNS = 60;
/** Prices of the tokens of the tests, in micro-USD per million. */
const PRICES = { inputPerMillion: '400000', outputPerMillion: '1600000' };
const MILLION = 1_000_000n;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Submitted {
  readonly outcome: string;
  readonly reserved: string | null;
  readonly bound_by: string | null;
}

interface Terms {
  readonly balance: number;
  readonly amount: number;
  readonly floor: number;
  readonly prompt: number;
  readonly runLimit: number | null;
}

async function submit(account: string, id: string, terms: Omit<Terms, 'balance'>) {
  const run = terms.runLimit === null ? null : 'run';
  const [row] = await database.dataSource.query<Submitted[]>(
    `SELECT outcome, reserved, bound_by FROM task_submit_v2($1, $2, NULL, 'response', 'text', 'gen', NULL, '', '{}', 'openai', '',
       true, 'm', 'run/openai', $3, NULL, NULL, NULL, NULL, NULL, '/v1/responses', NULL, NULL, false, $4, $5, NULL, NULL,
       $6, $7)`,
    [account, id, terms.amount, run, terms.runLimit, terms.floor, terms.prompt],
  );
  return row;
}

/** Ends the task as its settlement does, with these tokens. */
async function settle(account: string, id: string, charge: bigint, tokens: object): Promise<void> {
  const basis = { unit: 'token', quantity: tokens, unitPrice: PRICES };
  const [row] = await database.dataSource.query<{ ended: boolean }[]>(
    `SELECT task_complete($1, $2, NULL, '{queued}', false, 'succeeded', 'settle', $3, true, NULL, '{}', '{}', NULL, NULL, NULL,
       NULL, now(), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, $4) AS ended`,
    [account, id, charge.toString(), JSON.stringify(basis)],
  );
  expect(row).toEqual({ ended: true });
}

/** What fits, in plain integers (decision G-106); undefined: refused. */
function expectedHold({ balance, amount, floor, prompt, runLimit }: Terms): bigint | undefined {
  const room = runLimit === null ? balance : Math.min(balance, runLimit);
  const held = Math.min(amount, Math.max(floor, Math.min(room, prompt + Math.floor(room / 8))));
  return held > room ? undefined : BigInt(held);
}

const terms = fc
  .record({
    balance: fc.integer({ min: 1, max: 5_000 }),
    floor: fc.integer({ min: 1, max: 800 }),
    prompt: fc.integer({ min: 0, max: 400 }),
    more: fc.integer({ min: 0, max: 4_000 }),
    runLimit: fc.option(fc.integer({ min: 1, max: 5_000 })),
  })
  .map(({ more, ...rest }): Terms => ({ ...rest, amount: rest.floor + more }));

describe('a task that holds what fits', () => {
  it('holds what plain integers say, is charged its tokens at most, and the audit finds nothing (G-106)', async () => {
    await fc.assert(
      fc.asyncProperty(
        terms,
        fc.nat({ max: 2_000 }),
        fc.nat({ max: 2_000 }),
        async (asked, promptTokens, completionTokens) => {
          const account = await fundedAccount(database.dataSource, BigInt(asked.balance));
          const id = uuidV7(Date.now());
          const held = expectedHold(asked);
          const row = await submit(account, id, asked);
          if (held === undefined) {
            expect(row?.outcome).toMatch(/^(insufficient|over_run)$/);
            return;
          }
          expect(row).toMatchObject({ outcome: 'created', reserved: held.toString() });
          // A repetition finds what the first one holds.
          expect(await submit(account, id, asked)).toMatchObject({
            outcome: 'created',
            reserved: held.toString(),
          });
          const due =
            (BigInt(promptTokens) * 400_000n +
              BigInt(completionTokens) * 1_600_000n +
              MILLION -
              1n) /
            MILLION;
          const charge = due < held ? due : held;
          const counts = {
            promptTokens,
            completionTokens,
            cachedTokens: null,
            reasoningTokens: null,
          };
          await settle(account, id, charge, counts);
          const [after] = await database.dataSource.query<object[]>(
            `SELECT a.posted, a.held, t.charged, t.unit FROM account a JOIN task t ON t.account_id = a.id WHERE a.id = $1`,
            [account],
          );
          expect(after).toEqual({
            posted: (BigInt(asked.balance) - charge).toString(),
            held: '0',
            charged: charge.toString(),
            unit: 'token',
          });
        },
      ),
      { numRuns: RUNS },
    );
    expect(await auditLedger(database.dataSource, 'full')).toMatchObject({ discrepancies: [] });
  });

  it('is found by the audit where its charge is not that of its tokens', async () => {
    const account = await fundedAccount(database.dataSource, 5_000n);
    const id = uuidV7(Date.now());
    await submit(account, id, { amount: 900, floor: 900, prompt: 0, runLimit: null });
    await settle(account, id, 7n, { promptTokens: 1_000, completionTokens: 0 });
    const { discrepancies } = await auditLedger(database.dataSource, 'full');
    expect(discrepancies.map(({ rule }) => rule)).toContain(
      'a charge is the sum of its lines, at most its hold',
    );
  });

  it('and others of its account hold no more than there is, together', async () => {
    const account = await fundedAccount(database.dataSource, 1_000n);
    const rows = await Promise.all(
      Array.from({ length: 12 }, () =>
        submit(account, uuidV7(Date.now()), { amount: 900, floor: 90, prompt: 10, runLimit: null }),
      ),
    );
    const sum = rows.reduce((all, row) => all + BigInt(row?.reserved ?? 0), 0n);
    const [row] = await database.dataSource.query<{ held: string }[]>(
      'SELECT held FROM account WHERE id = $1',
      [account],
    );
    expect(row).toEqual({ held: sum.toString() });
    expect(sum).toBeLessThanOrEqual(1_000n);
  });
});
