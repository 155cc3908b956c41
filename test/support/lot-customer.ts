import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { DAY_MS } from '../../src/common/time/spans.js';
import { endTask } from './end-task.js';
import { FAILURE, startOf, successOf, type TestLedger } from './test-ledger.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { ReversalRepository } from '../../src/billing/recovery/reversal.repository.js';
import { PAID } from '../../src/billing/credit-terms.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';

const STEPS = 30;

const kind = fc.constantFrom('paid' as const, 'granted' as const);
const amount = fc.bigInt(1n, 60n);
const nth = fc.nat(9);
export const step = fc.oneof(
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
type LotStep = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What a history begins with, so that something can expire, or come back to several credits. */
const CREDITS: readonly LotStep[] = [
  { do: 'credit', kind: 'granted', amount: 50n, endsIn: 1 },
  { do: 'credit', kind: 'paid', amount: 40n, endsIn: 0 },
  { do: 'credit', kind: 'paid', amount: 60n, endsIn: null },
];
const beginning = fc.constantFrom<readonly LotStep[]>(
  [...CREDITS, { do: 'begin', amount: 30n, isTask: false }],
  [
    ...CREDITS,
    { do: 'begin', amount: 130n, isTask: true },
    { do: 'settle', nth: 0, perMille: 1000n },
  ],
);
export const history = fc
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
export const refused = (): undefined => undefined;

/** A time so many days after tomorrow; null: never. */
const endOf = (days: number | null): Date | null =>
  days === null ? null : new Date(Date.now() + (1 + days) * DAY_MS);

/** A customer who does what the steps say, as far as it can be done. */
export class LotCustomer {
  readonly open: Bought[] = [];
  readonly charged: Bought[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly calls: TestLedger,
    readonly accountId: string,
  ) {}

  async take(todo: LotStep): Promise<void> {
    switch (todo.do) {
      case 'credit':
        return this.credit(todo.amount, todo.kind, endOf(todo.endsIn));
      case 'correct':
        return this.correct(todo.amount);
      case 'begin':
        return this.begin(todo.amount, todo.isTask);
      case 'settle':
        return this.settleOne(todo.nth, todo.perMille);
      case 'release':
        return this.release(todo.nth);
      case 'refund':
        return this.refund(todo.nth, todo.amount ?? undefined);
      case 'reverse':
        return this.reverse(todo.nth);
      case 'look':
        await this.dataSource.query(LOOK);
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

  private async correct(value: bigint): Promise<void> {
    const { dataSource, accountId } = this;
    const correction = { accountId, amountMicroUsd: -value, reference: null };
    const key = { idempotencyKey: uuidV7(Date.now()) };
    await new LedgerService(dataSource).credit({ ...correction, ...key }).catch(refused);
  }

  private async settleOne(place: number, perMille: bigint): Promise<void> {
    const [bought] = this.pick(this.open, place);
    if (bought) await this.settle(bought, (bought.amount * perMille) / 1000n);
  }

  private async release(place: number): Promise<void> {
    const [bought] = this.pick(this.open, place);
    if (bought?.isTask === true)
      await endTask(this.dataSource, this.accountId, bought.id, 'failed');
    else if (bought) await this.calls.executions.fail(this.startOf(bought), FAILURE);
  }

  private async refund(place: number, part: bigint | undefined): Promise<void> {
    const bought = this.charged[place % Math.max(1, this.charged.length)];
    if (!bought) return;
    const of = bought.isTask ? 'task' : 'execution';
    const key = { idempotencyKey: uuidV7(Date.now()), note: null };
    const request = { of, id: bought.id, amountMicroUsd: part, ...key } as const;
    await new LedgerService(this.dataSource).refund(request).catch(refused);
  }

  private async reverse(place: number): Promise<void> {
    const { dataSource, accountId } = this;
    const bought = this.charged[place % Math.max(1, this.charged.length)];
    if (bought?.isTask === true) {
      await dataSource.query('SELECT task_cancel($1, $2)', [accountId, bought.id]);
    } else if (bought) {
      const owed = { ...this.startOf(bought), ...FAILURE };
      await new ReversalRepository(dataSource).cancel(owed);
    }
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
