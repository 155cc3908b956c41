import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createPartitionedDatabase } from '../../../test/support/partitioned-database.js';
import type { TestDatabase } from '../../../test/support/test-database.js';
import { balanceOf, fundedAccount } from '../../../test/support/test-ledger.js';
import { FAILURE, startOf, successOf } from '../../../test/support/test-ledger.js';
import { auditBooks } from '../audit/usage-audit.js';
import { RunsService } from '../runs/runs.service.js';
import { ExecutionRepository } from './execution.repository.js';
import type { ExecutionCommand, ExecutionStart } from './execution-commands.js';

const ACCOUNTS = 24;
const FUNDS = 1_000_000n;
const RUNS = 12;
/** Function calls of version 0.1.0 have no start with a fit and no run. */
const FORMER_ENDS = 17;

/** Which account begins a call, what it holds, and the permille of it that it will cost; null: it fails. */
const call = fc.record({
  account: fc.nat(ACCOUNTS - 1),
  amount: fc.bigInt(1n, 500n),
  permille: fc.option(fc.nat(1_000), { nil: null }),
  isInRun: fc.boolean(),
});
type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never;

/** What one account and its run have, in plain integers. */
interface Book {
  readonly id: string;
  posted: bigint;
  held: bigint;
  readonly run: { spent: bigint; held: bigint; calls: number };
}

let database: TestDatabase;
let statements: ExecutionRepository;
let books: Book[];
beforeAll(async () => {
  database = await createPartitionedDatabase();
  statements = new ExecutionRepository(database.dataSource);
  books = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const id = await fundedAccount(database.dataSource, FUNDS);
    books.push({ id, posted: FUNDS, held: 0n, run: { spent: 0n, held: 0n, calls: 0 } });
  }
});
afterAll(() => database.drop());

const commandOf = (book: Book, { amount, isInRun }: Call) => {
  const run = isInRun ? { id: 'one', limitMicroUsd: undefined } : undefined;
  return {
    kind: 'begin',
    accountId: book.id,
    start: { ...startOf(book.id, amount), run },
  } as const;
};

function endOf(
  { accountId, executionId, run }: ExecutionStart,
  charge: bigint | null,
): ExecutionCommand {
  const end =
    charge === null
      ? { ...successOf(0n), ...FAILURE, chargedMicroUsd: null }
      : { ...successOf(charge), errorCode: null };
  return {
    kind: 'finish',
    accountId,
    end: { ...end, providerFault: null, accountId, executionId, run },
  };
}

/** Runs the calls in two statements: one that begins all, one that ends all. */
async function pass(calls: readonly Call[]): Promise<void> {
  const begins = calls.map((each) => commandOf(books[each.account]!, each));
  const begun = await statements.commit(randomUUID(), begins, false);
  expect(begun).toEqual(
    calls.map(({ amount }) => ({ outcome: 'held', amountMicroUsd: amount, capReason: null })),
  );
  for (const { account, amount, isInRun } of calls) {
    const book = books[account]!;
    book.held += amount;
    if (!isInRun) continue;
    book.run.held += amount;
    book.run.calls += 1;
  }
  await areAsInTheBooks();
  const ends = calls.map(({ account, amount, permille, isInRun }, index) => {
    const book = books[account]!;
    const charge = permille === null ? null : (amount * BigInt(permille)) / 1_000n;
    book.held -= amount;
    book.posted -= charge ?? 0n;
    if (isInRun) {
      book.run.held -= amount;
      book.run.spent += charge ?? 0n;
    }
    return endOf(begins[index]!.start, charge);
  });
  const ended = await statements.commit(randomUUID(), ends, false);
  expect(ended).toEqual(calls.map(() => 'done'));
  await areAsInTheBooks();
}

async function areAsInTheBooks(): Promise<void> {
  const runs = new RunsService(database.dataSource);
  for (const { id, posted, held, run } of books) {
    expect(await balanceOf(database.dataSource, id)).toEqual([posted, held]);
    if (run.calls === 0) continue;
    expect(await runs.get(id, 'one')).toMatchObject({
      spentMicroUsd: run.spent,
      heldMicroUsd: run.held,
      calls: run.calls,
    });
  }
}

describe('calls on tables that are partitioned by the hash of the account', () => {
  it('change the accounts and runs that they name and no others', async () => {
    const [first] = await database.dataSource.query<{ most: number }[]>(
      'SELECT max(n)::int AS most FROM (SELECT count(*) AS n FROM account GROUP BY ctid) t',
    );
    // Otherwise the test would prove nothing.
    expect(first?.most).toBeGreaterThan(1);
    const property = fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), pass);
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    expect(await auditBooks(database.dataSource, 'full')).toMatchObject({ ok: true });
  });

  it('change them only when a process of version 0.1.0 makes them', async () => {
    const [{ id }] = books as [Book];
    const noEnds = Array<string>(FORMER_ENDS).fill(`'{}'`).join(', ');
    await database.dataSource.query(
      `SELECT * FROM execution_step_v2('{${id}}', '${randomUUID()}', false, ${noEnds},
         '{1}', '{${randomUUID()}}', '{10}', '{NULL}', '{aud-v4}', '{/v1/audio/speech}', '{NULL}')`,
    );
    books[0]!.held += 10n;
    await areAsInTheBooks();
  });
});
