import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { endTask } from '../../../test/support/end-task.js';
import { LotBooks } from '../../../test/support/lot-books.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  accountsOf,
  FAILURE,
  IDLE_TICKER,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { auditBooks } from '../audit/usage-audit.js';
import { ReversalRepository } from '../recovery/reversal.repository.js';
import { CreditExpiry } from './credit-expiry.js';
import { PAID } from '../credit-terms.js';
import { LedgerService } from './ledger.service.js';

const RUNS = 40;
const STEPS = 30;
const RACES = 6;
const RACERS = 8;
const STEPS_OF_RACER = 14;
const DAY_MS = 86_400_000;

const kind = fc.constantFrom('paid' as const, 'granted' as const);
const amount = fc.bigInt(1n, 60n);
const nth = fc.nat(9);
const step = fc.oneof(
  fc.record({ do: fc.constant('credit' as const), kind, amount, endsIn: fc.option(fc.nat(3)) }),
  fc.record({ do: fc.constant('correct' as const), amount }),
  fc.record({ do: fc.constant('begin' as const), amount, isTask: fc.boolean() }),
  fc.record({ do: fc.constant('settle' as const), nth, perMille: fc.bigInt(0n, 1000n) }),
  fc.record({ do: fc.constant('release' as const), nth }),
  fc.record({ do: fc.constant('refund' as const), nth, amount: fc.option(amount) }),
  fc.record({ do: fc.constant('reverse' as const), nth }),
  fc.record({ do: fc.constant('end' as const), nth }),
  fc.record({ do: fc.constant('look' as const) }),
  fc.record({ do: fc.constant('expire' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What a history begins with, so that something can expire, or come back to several credits. */
const CREDITS: readonly Step[] = [
  { do: 'credit', kind: 'granted', amount: 50n, endsIn: 1 },
  { do: 'credit', kind: 'paid', amount: 40n, endsIn: 0 },
  { do: 'credit', kind: 'paid', amount: 60n, endsIn: null },
];
const beginning = fc.constantFrom<readonly Step[]>(
  [...CREDITS, { do: 'begin', amount: 30n, isTask: false }],
  [
    ...CREDITS,
    { do: 'begin', amount: 130n, isTask: true },
    { do: 'settle', nth: 0, perMille: 1000n },
  ],
);
const history = fc
  .tuple(beginning, fc.array(step, { minLength: 4, maxLength: STEPS }))
  .map((parts) => parts.flat());

interface Bought {
  readonly id: string;
  readonly amount: bigint;
  readonly isTask: boolean;
}

const TASK = `
  SELECT outcome FROM task_submit($1, $2, NULL, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
    'waiting:sandbox', $3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`;
const LOOK = `
  WITH known AS (
    INSERT INTO open_call (account_id, id, process_id, created_at)
      SELECT account_id, id, process_id, created_at FROM execution WHERE status = 'running' ON CONFLICT DO NOTHING)
  UPDATE call_look SET looked_until = now()`;

/** Whatever a step answers that the books do not allow. */
const refused = (): undefined => undefined;

/** A customer who does what the steps say, as far as it can be done. */
class Customer {
  readonly open: Bought[] = [];
  readonly charged: Bought[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly calls: TestLedger,
    readonly accountId: string,
  ) {}

  async take(todo: Step): Promise<void> {
    const { dataSource, accountId } = this;
    const ledger = new LedgerService(dataSource);
    switch (todo.do) {
      case 'credit': {
        const end = todo.endsIn === null ? null : new Date(Date.now() + (1 + todo.endsIn) * DAY_MS);
        await this.credit(todo.amount, todo.kind, end);
        return;
      }
      case 'correct': {
        const correction = { accountId, amountMicroUsd: -todo.amount, reference: null };
        await ledger.credit({ ...correction, idempotencyKey: uuidV7(Date.now()) }).catch(refused);
        return;
      }
      case 'begin':
        return this.begin(todo.amount, todo.isTask);
      case 'settle': {
        const [bought] = this.pick(this.open, todo.nth);
        if (bought) await this.settle(bought, (bought.amount * todo.perMille) / 1000n);
        return;
      }
      case 'release': {
        const [bought] = this.pick(this.open, todo.nth);
        if (bought?.isTask === true) await endTask(dataSource, accountId, bought.id, 'failed');
        else if (bought) await this.calls.executions.fail(this.startOf(bought), FAILURE);
        return;
      }
      case 'refund': {
        const bought = this.charged[todo.nth % Math.max(1, this.charged.length)];
        if (!bought) return;
        const of = bought.isTask ? 'task' : 'execution';
        const part = todo.amount ?? undefined;
        const key = { idempotencyKey: uuidV7(Date.now()), note: null };
        await ledger.refund({ of, id: bought.id, amountMicroUsd: part, ...key }).catch(refused);
        return;
      }
      case 'reverse': {
        const bought = this.charged[todo.nth % Math.max(1, this.charged.length)];
        if (!bought) return;
        if (bought.isTask) {
          await dataSource.query('SELECT task_cancel($1, $2)', [accountId, bought.id]);
        } else {
          const owed = { ...this.startOf(bought), ...FAILURE };
          await new ReversalRepository(dataSource).cancel(owed);
        }
        return;
      }
      case 'look':
        await dataSource.query(LOOK);
        return;
      case 'end':
      case 'expire':
    }
  }

  async credit(value: bigint, creditKind: 'paid' | 'granted', expiresAt: Date | null) {
    await new LedgerService(this.dataSource).credit({
      accountId: this.accountId,
      amountMicroUsd: value,
      idempotencyKey: uuidV7(Date.now()),
      reference: null,
      terms: { ...PAID, kind: creditKind, expiresAt },
    });
  }

  private async begin(value: bigint, isTask: boolean): Promise<void> {
    const bought = { id: uuidV7(Date.now()), amount: value, isTask };
    const parameters = [this.accountId, bought.id, value.toString()];
    const outcome = isTask
      ? (await this.dataSource.query<{ outcome: string }[]>(TASK, parameters))[0]?.outcome
      : (await this.calls.executions.begin(this.startOf(bought))).outcome;
    if (outcome === 'held' || outcome === 'created') this.open.push(bought);
    else expect(outcome).toBe('insufficient');
  }

  private async settle(bought: Bought, charge: bigint): Promise<void> {
    const { dataSource, accountId, calls } = this;
    if (bought.isTask) await endTask(dataSource, accountId, bought.id, Number(charge));
    else await calls.executions.succeed(this.startOf(bought), successOf(charge));
    if (charge > 0n) this.charged.push(bought);
  }

  private startOf({ id, amount: held }: Bought) {
    return { ...startOf(this.accountId, held), executionId: id };
  }

  private pick(from: Bought[], place: number): Bought[] {
    return from.length === 0 ? [] : from.splice(place % from.length, 1);
  }
}

describe('the kinds of money', () => {
  let database: TestDatabase;
  let calls: TestLedger;
  let expiry: CreditExpiry;
  beforeAll(async () => {
    database = await createTestDatabase();
    calls = ledgerOf(database.dataSource);
    await calls.process.heartbeat();
    expiry = new CreditExpiry(database.dataSource, IDLE_TICKER);
  });
  afterAll(() => database.drop());

  const newAccount = async () => (await accountsOf(database.dataSource).create('lots')).id;

  /** The audit finds no error, and something did expire, and did come back. */
  const proveBooks = async () => {
    expect(await auditBooks(database.dataSource, 'full')).toMatchObject({
      ok: true,
      discrepancies: [],
    });
    const [row] = await database.dataSource.query<{ expired: string; returned: string }[]>(
      `SELECT count(*) FILTER (WHERE kind = 'expiry') AS expired,
              count(*) FILTER (WHERE kind = 'correction' AND amount > 0) AS returned
         FROM ledger_entry JOIN ledger_entry_source USING (account_id, position)`,
    );
    expect(Number(row?.expired)).toBeGreaterThan(0);
    expect(Number(row?.returned)).toBeGreaterThan(0);
  };

  it('equal the model after every step of any history, and the audit finds no error', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const accountId = await newAccount();
        const customer = new Customer(database.dataSource, calls, accountId);
        const books = new LotBooks(database.dataSource, accountId);
        for (const todo of steps) {
          let due: unknown = [];
          if (todo.do === 'expire') {
            due = books.oracle.due(await books.now(), await books.open());
            await database.dataSource.query('SELECT lots_expire($1)', [accountId]);
          } else if (todo.do === 'end') {
            const lots = books.oracle.lots.filter((known) => known.expiresAt !== null);
            const lot = lots[todo.nth % Math.max(1, lots.length)];
            if (lot) await books.end(lot.position);
          } else await customer.take(todo);
          const { noted, expected, expired } = await books.follow();
          expect(noted).toEqual(expected);
          expect(expired).toEqual(due);
          const [found, wanted] = await books.remaining();
          expect(found).toEqual(wanted);
        }
      }),
      { numRuns: RUNS },
    );
    await proveBooks();
  });

  it('equal the model when calls, tasks, credits, refunds and expiries meet', async () => {
    const racers = fc.array(fc.array(step, { minLength: 4, maxLength: STEPS_OF_RACER }), {
      minLength: RACERS,
      maxLength: RACERS,
    });
    await fc.assert(
      fc.asyncProperty(racers, async (histories) => {
        const accountId = await newAccount();
        const books = new LotBooks(database.dataSource, accountId);
        const customers = histories.map(() => new Customer(database.dataSource, calls, accountId));
        await customers[0]!.credit(500n, 'paid', null);
        await Promise.all(
          histories.map(async (steps, racer) => {
            const customer = customers[racer]!;
            for (const todo of steps) {
              if (todo.do === 'end') {
                const soon = new Date(Date.now() + 50 + 40 * todo.nth);
                await customer.credit(40n, 'granted', soon).catch(refused);
              } else if (todo.do === 'expire') await expiry.tick();
              else await customer.take(todo);
            }
            while (customer.open.length > 0) {
              await customer.take({ do: 'settle', nth: 0, perMille: 700n });
            }
          }),
        );
        const { noted, expected } = await books.follow();
        expect(noted).toEqual(expected);
        const [found, wanted] = await books.remaining();
        expect(found).toEqual(wanted);
      }),
      { numRuns: RACES, endOnFailure: true },
    );
    await proveBooks();
  });
});
