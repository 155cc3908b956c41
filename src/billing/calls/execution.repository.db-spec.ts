import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { balanceOf, accountsOf } from '../../../test/support/test-ledger.js';
import { FAILURE, startOf, successOf } from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';
import { ReversalRepository } from '../recovery/reversal.repository.js';
import { LedgerService } from '../ledger/ledger.service.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { ExecutionRepository } from './execution.repository.js';
import type { BeginResult, ExecutionCommand } from './execution-commands.js';

const RUNS = 60;
const STEPS = 25;
const IDS = 12;
const PROCESS_ID = randomUUID();

interface OracleHold {
  readonly amount: bigint;
  state: 'open' | 'settled' | 'released';
  charge: bigint | null;
}

/** A model of the books in memory, one step after the other. */
class Oracle {
  posted = 0n;
  readonly holds = new Map<number, OracleHold>();
  readonly credits = new Map<string, bigint>();

  get held(): bigint {
    return [...this.holds.values()]
      .filter((hold) => hold.state === 'open')
      .reduce((sum, hold) => sum + hold.amount, 0n);
  }

  begin(id: number, amount: bigint): string {
    const known = this.holds.get(id);
    if (known) return known.state === 'open' && known.amount === amount ? 'held' : 'conflict';
    if (amount > this.posted - this.held) return 'insufficient';
    this.holds.set(id, { amount, state: 'open', charge: null });
    return 'held';
  }

  finish(id: number, charge: bigint | null): string {
    const hold = this.holds.get(id);
    if (!hold) return 'missing';
    if (hold.state === 'open') {
      if (charge !== null && charge > hold.amount) return 'excess';
      hold.state = charge === null ? 'released' : 'settled';
      hold.charge = charge;
      this.posted -= charge ?? 0n;
      return 'done';
    }
    return hold.charge === charge ? 'done' : 'conflict';
  }

  credit(key: string, amount: bigint): string {
    const known = this.credits.get(key);
    if (known !== undefined) return known === amount ? 'credited' : 'conflict';
    if (this.posted - this.held + amount < 0n) return 'overdrawn';
    this.credits.set(key, amount);
    this.posted += amount;
    return 'credited';
  }

  /** Afterwards the call holds nothing and costs nothing, whatever happened to it. */
  cancel(id: number): string {
    const hold = this.holds.get(id);
    if (!hold) {
      this.holds.set(id, { amount: 0n, state: 'released', charge: null });
      return 'cancelled';
    }
    const { state } = hold;
    this.posted += hold.charge ?? 0n;
    hold.state = 'released';
    hold.charge = null;
    return { open: 'released', settled: 'reversed', released: 'nothing' }[state];
  }
}

const id = fc.nat(IDS - 1);
const start = fc.record({ id, amount: fc.bigInt(1n, 60n) });
const end = fc.record({ id, charge: fc.option(fc.bigInt(0n, 70n), { nil: null }) });
const step = fc.oneof(
  fc
    .record({
      kind: fc.constant('commit' as const),
      starts: fc.uniqueArray(start, { maxLength: 6, selector: (item) => item.id }),
      ends: fc.array(end, { maxLength: 6 }),
      startsFirst: fc.boolean(),
    })
    .filter(({ starts, ends }) => starts.length + ends.length > 0),
  fc.record({
    kind: fc.constant('credit' as const),
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    amount: fc.oneof(fc.bigInt(1n, 200n), fc.bigInt(-50n, -1n)),
  }),
  fc.record({ kind: fc.constant('cancel' as const), id }),
);

type ValueOf<A> = A extends fc.Arbitrary<infer Value> ? Value : never;
type Step = ValueOf<typeof step>;

function beginOf(
  accountId: string,
  ids: readonly string[],
  item: ValueOf<typeof start>,
): ExecutionCommand {
  const begun = { ...startOf(accountId, item.amount), executionId: ids[item.id]! };
  return { kind: 'begin', accountId, start: begun };
}

function finishOf(
  accountId: string,
  ids: readonly string[],
  item: ValueOf<typeof end>,
): ExecutionCommand {
  const failed = { ...successOf(0n), ...FAILURE, chargedMicroUsd: null };
  const ended = item.charge === null ? failed : { ...successOf(item.charge), errorCode: null };
  const executionId = ids[item.id]!;
  return {
    kind: 'finish',
    accountId,
    end: { ...ended, providerFault: null, accountId, executionId },
  };
}

/** If one batch resolves a hold several times, those that do not count may be refused because of each other. */
const doneOrRefused = (outcome: unknown): string => (outcome === 'done' ? 'done' : 'refused');

describe('the ledger against an in-memory model', () => {
  let database: TestDatabase;
  let ledger: LedgerService;
  let statements: ExecutionRepository;
  let cancellations: ReversalRepository;
  beforeAll(async () => {
    database = await createTestDatabase();
    const { dataSource } = database;
    ledger = new LedgerService(dataSource);
    statements = new ExecutionRepository(dataSource);
    cancellations = new ReversalRepository(dataSource);
  });
  afterAll(() => database.drop());

  /** Runs one step on both sides and compares every outcome. */
  async function compare(accountId: string, ids: string[], oracle: Oracle, todo: Step) {
    switch (todo.kind) {
      case 'commit': {
        const starts = todo.starts.map((item) => beginOf(accountId, ids, item));
        const ends = todo.ends.map((item) => finishOf(accountId, ids, item));
        const finished = todo.ends.map((item) => oracle.finish(item.id, item.charge));
        const begun = todo.starts.map((item) => oracle.begin(item.id, item.amount));
        const steps = todo.startsFirst ? [...starts, ...ends] : [...ends, ...starts];
        const outcomes = await statements.commit(PROCESS_ID, steps, false);
        expect(outcomes).toHaveLength(steps.length);
        const firstStart = todo.startsFirst ? 0 : ends.length;
        const results = outcomes.splice(firstStart, starts.length) as BeginResult[];
        expect(results.map(({ outcome }) => outcome)).toEqual(begun);
        const times = (wanted: number): number =>
          todo.ends.filter((item) => item.id === wanted).length;
        todo.ends.forEach((item, index) => {
          const say = times(item.id) > 1 ? doneOrRefused : String;
          expect(say(outcomes[index])).toBe(say(finished[index]));
        });
        return;
      }
      case 'credit': {
        const outcome = await ledger
          .credit({
            accountId,
            amountMicroUsd: todo.amount,
            idempotencyKey: todo.key,
            reference: null,
          })
          .then(
            () => 'credited',
            (error: unknown) =>
              ({ idempotency_conflict: 'conflict', conflict: 'overdrawn' })[
                (error as GatewayError).code as string
              ],
          );
        expect(outcome).toBe(oracle.credit(todo.key, todo.amount));
        return;
      }
      case 'cancel': {
        const call = startOf(accountId, 1n);
        const owed = { ...call, ...FAILURE, executionId: ids[todo.id]! };
        expect(await cancellations.cancel(owed)).toBe(oracle.cancel(todo.id));
      }
    }
  }

  it('equals the model for any order of commands, and the audit finds no error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: STEPS }), async (steps) => {
        const { id: accountId } = await accountsOf(database.dataSource).create('model');
        const ids = Array.from({ length: IDS }, () => uuidV7(Date.now()));
        const oracle = new Oracle();
        for (const todo of steps) {
          await compare(accountId, ids, oracle, todo);
          const balance = await balanceOf(database.dataSource, accountId);
          expect(balance).toEqual([oracle.posted, oracle.held]);
        }
      }),
      { numRuns: RUNS },
    );
    expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
  });
});
