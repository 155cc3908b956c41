import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { balanceOf, fundedAccount, ledgerOf } from '../../../test/support/test-ledger.js';
import { FAILURE, startOf, successOf } from '../../../test/support/test-ledger.js';
import { auditBooks } from '../audit/usage-audit.js';
import { ExecutionRepository } from './execution.repository.js';
import type { BeginResult, ExecutionCommand, ExecutionStart } from './execution-commands.js';

const RUNS = 25;
const KEYS = 2;
const PROCESS_ID = randomUUID();

/** One call: with a fit, what it holds is decided in the statement. */
const call = fc.record({
  amount: fc.bigInt(1n, 4_000n),
  fit: fc.option(fc.record({ prompt: fc.bigInt(0n, 300n), tokens: fc.bigInt(0n, 300n) }), {
    nil: null,
  }),
  key: fc.option(fc.nat(KEYS - 1), { nil: null }),
});
type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never;
const batch = fc.record({
  starts: fc.array(call, { minLength: 1, maxLength: 8 }),
  /** Of the calls that run, each with this permille of its hold as charge; null: it fails. */
  ends: fc.array(fc.option(fc.nat(1_000), { nil: null }), { maxLength: 4 }),
});

/** Whole steps of the statement in plain integers. */
class Oracle {
  held = 0n;

  constructor(
    public posted: bigint,
    /** What is left of the limits of the keys. */
    readonly rooms: bigint[],
  ) {}

  /** The result of a start, and what it holds. */
  begin({ amount: most, fit, key }: Call): BeginResult {
    const ofAccount = this.posted - this.held;
    const ofKey = key === null ? undefined : this.rooms[key];
    const isKey = ofKey !== undefined && ofKey <= ofAccount;
    const room = isKey ? ofKey : ofAccount;
    const amount = fit ? this.fitted(most, fit, room) : most;
    if (amount > room) {
      return { outcome: isKey ? 'over_limit' : 'insufficient', availableMicroUsd: room };
    }
    this.held += amount;
    if (key !== null) this.rooms[key]! -= amount;
    const bound = amount === most ? 'model' : isKey ? 'key' : 'balance';
    return { outcome: 'held', amountMicroUsd: amount, capReason: fit ? bound : null };
  }

  private fitted(most: bigint, { prompt, tokens }: NonNullable<Call['fit']>, room: bigint): bigint {
    const floor = min(most, prompt + tokens);
    const wanted = min(room, prompt + room / 8n);
    return min(most, wanted > floor ? wanted : floor);
  }

  end(held: bigint, charge: bigint, key: number | null): void {
    this.held -= held;
    this.posted -= charge;
    if (key !== null) this.rooms[key]! += held - charge;
  }
}

const min = (one: bigint, other: bigint): bigint => (one < other ? one : other);

describe('holds that take what fits', () => {
  let database: TestDatabase;
  let statements: ExecutionRepository;
  beforeAll(async () => {
    database = await createTestDatabase();
    statements = new ExecutionRepository(database.dataSource);
  });
  afterAll(() => database.drop());

  async function keyOf(accountId: string, limit: bigint): Promise<string> {
    const id = randomUUID();
    await database.dataSource.query(
      `INSERT INTO api_key (id, account_id, prefix, hash, created_at, spend_limit, spend_limit_period, spend_limit_since)
       VALUES ($1, $2, 'sk', $3, now(), $4, 'total', now() - interval '4 seconds')`,
      [id, accountId, randomBytes(32), limit.toString()],
    );
    return id;
  }

  function commandOf(accountId: string, keys: readonly string[], { amount, fit, key }: Call) {
    const start: ExecutionStart = {
      ...startOf(accountId, amount),
      apiKeyId: key === null ? null : keys[key]!,
      isCapped: key !== null,
      fit: fit
        ? { promptMicroUsd: fit.prompt, floorMicroUsd: min(amount, fit.prompt + fit.tokens) }
        : undefined,
    };
    return { kind: 'begin', accountId, start } as const;
  }

  const limits = fc.array(fc.bigInt(0n, 6_000n), { minLength: KEYS, maxLength: KEYS });
  const property = fc.asyncProperty(
    fc.bigInt(1n, 8_000n),
    limits,
    fc.array(batch, { minLength: 1, maxLength: 5 }),
    async (posted, rooms, batches) => {
      const accountId = await fundedAccount(database.dataSource, posted);
      const keys = await Promise.all(rooms.map((limit) => keyOf(accountId, limit)));
      const oracle = new Oracle(posted, [...rooms]);
      const open: { id: string; held: bigint; key: number | null }[] = [];
      for (const { starts, ends } of batches) {
        const ending = open.splice(0, ends.length);
        const finishes = ending.map(({ id, held, key }, index): ExecutionCommand => {
          const permille = ends[index] ?? null;
          const charge = permille === null ? null : (held * BigInt(permille)) / 1_000n;
          oracle.end(held, charge ?? 0n, key);
          const end =
            charge === null
              ? { ...successOf(0n), ...FAILURE, chargedMicroUsd: null }
              : { ...successOf(charge), errorCode: null };
          return {
            kind: 'finish',
            accountId,
            end: { ...end, providerFault: null, accountId, executionId: id },
          };
        });
        const begins = starts.map((each) => commandOf(accountId, keys, each));
        const expected = starts.map((each) => oracle.begin(each));
        const outcomes = await statements.commit(PROCESS_ID, [...begins, ...finishes], false);
        expect(outcomes.slice(0, begins.length)).toEqual(expected);
        begins.forEach(({ start }, index) => {
          const result = expected[index]!;
          if (result.outcome !== 'held') return;
          const held = result.amountMicroUsd;
          open.push({ id: start.executionId, held, key: starts[index]!.key });
        });
        // A statement that is repeated after a lost answer says the same again.
        const held = begins.filter((_, index) => expected[index]!.outcome === 'held');
        const again = await statements.commit(PROCESS_ID, held, true);
        expect(again).toEqual(expected.filter(({ outcome }) => outcome === 'held'));
        expect(await balanceOf(database.dataSource, accountId)).toEqual([
          oracle.posted,
          oracle.held,
        ]);
      }
    },
  );

  it('equal the oracle for any balance, limits and order of calls, and the books stay whole', async () => {
    await fc.assert(property, { numRuns: RUNS });
    expect(await auditBooks(database.dataSource, 'full')).toMatchObject({ ok: true });
  });

  it('never hold more than there is, over several processes at once', async () => {
    const accountId = await fundedAccount(database.dataSource, 1_000_000n);
    const processes = [1, 2, 3].map(() => ledgerOf(database.dataSource).executions);
    const fit = { promptMicroUsd: 50n, floorMicroUsd: 50n + 40_960n };
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        processes[index % 3]!.begin({ ...startOf(accountId, 1_280_050n), fit }),
      ),
    );
    const held = results.flatMap((result) =>
      result.outcome === 'held' ? [result.amountMicroUsd] : [],
    );
    expect(held).toHaveLength(16);
    expect(held.every((amount) => amount >= fit.floorMicroUsd)).toBe(true);
    const sum = held.reduce((all, amount) => all + amount, 0n);
    expect(await balanceOf(database.dataSource, accountId)).toEqual([1_000_000n, sum]);
    const refused = results.filter(({ outcome }) => outcome === 'insufficient');
    expect(refused).toHaveLength(24);
    for (const result of refused) {
      expect(result).toHaveProperty('availableMicroUsd', 1_000_000n - sum);
    }
  });
});
