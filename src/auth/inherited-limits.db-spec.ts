import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import {
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../test/support/test-ledger.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { SystemClock } from '../common/time/clock.js';
import type { ExecutionStart } from '../billing/calls/execution-commands.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService } from './api-keys.service.js';
import type { SpendPeriod } from './spend-limit.js';

const RUNS = 20;
const STEPS = 25;
const LIMIT = 200_000n;
const PERIODS: readonly SpendPeriod[] = ['day', 'month', 'total'];

let database: TestDatabase;
let keys: ApiKeysService;
let ledger: LedgerService;
let calls: ReturnType<typeof ledgerOf>;

beforeAll(async () => {
  database = await createTestDatabase();
  const { dataSource } = database;
  keys = new ApiKeysService(dataSource.getRepository(ApiKey), new SystemClock());
  ledger = new LedgerService(dataSource);
  calls = ledgerOf(dataSource);
});
afterAll(() => database.drop());

/** What counts of a call: what it holds or was charged, less what was given back. */
interface Call {
  readonly start: ExecutionStart;
  state: 'open' | 'paid' | 'over';
  counts: bigint;
}

/** A key, and the calls that it counts: its own, and those that its predecessor counted when it was rotated. */
interface Key {
  readonly id: string;
  readonly calls: Call[];
  limit: bigint | null;
  isRotated: boolean;
}

class Model {
  readonly keys: Key[] = [];
  readonly calls: Call[] = [];

  constructor(readonly accountId: string) {}

  static async begin(): Promise<Model> {
    const model = new Model(await fundedAccount(database.dataSource, 1_000_000_000n));
    const { record } = await keys.issue(model.accountId, {
      name: null,
      allowedModels: null,
      expiresAt: null,
      requestsPerMinute: null,
      spendLimitMicroUsd: LIMIT,
      spendLimitPeriod: 'day',
    });
    model.keys.push({ id: record.id, calls: [], limit: LIMIT, isRotated: false });
    return model;
  }

  pick<T>(from: readonly T[], by: number): T | undefined {
    return from[by % Math.max(1, from.length)];
  }

  spent(key: Key): bigint {
    return key.calls.reduce((sum, { counts }) => sum + counts, 0n);
  }

  /** Terms that are three seconds old are counted call by call. */
  async age(): Promise<void> {
    await database.dataSource.query(
      `UPDATE api_key SET spend_limit_since = spend_limit_since - interval '4 seconds' WHERE account_id = $1`,
      [this.accountId],
    );
  }

  async call(key: Key, amount: bigint): Promise<void> {
    const start = { ...startOf(this.accountId, amount), apiKeyId: key.id, isCapped: true };
    const { outcome } = await calls.executions.begin(start);
    const fits = key.limit === null || this.spent(key) + amount <= key.limit;
    expect(outcome).toBe(fits ? 'held' : 'over_limit');
    if (!fits) return;
    const call: Call = { start, state: 'open', counts: amount };
    key.calls.push(call);
    this.calls.push(call);
  }

  async end(call: Call, charge: bigint | null): Promise<void> {
    if (call.state !== 'open') return;
    if (charge === null) await calls.executions.fail(call.start, FAILURE);
    else await calls.executions.succeed(call.start, successOf(charge));
    call.counts = charge ?? 0n;
    call.state = charge === null ? 'over' : 'paid';
  }

  async refund(call: Call, amount: bigint): Promise<void> {
    if (call.state !== 'paid' || call.counts < amount || amount === 0n) return;
    const { executionId: id } = call.start;
    const idempotencyKey = `${call.counts}`;
    const request = { of: 'execution', id, amountMicroUsd: amount, idempotencyKey } as const;
    await ledger.refund({ ...request, note: null });
    call.counts -= amount;
  }

  async reverse(call: Call): Promise<void> {
    const { accountId, executionId, apiKeyId } = call.start;
    await database.dataSource.query(
      `SELECT execution_cancel($1, $2, $3, 'm', '/', 'service_unavailable', NULL, NULL)`,
      [accountId, executionId, apiKeyId],
    );
    call.counts = 0n;
    call.state = 'over';
  }

  async rotate(key: Key): Promise<void> {
    if (key.isRotated) return;
    const issued = await keys.rotate(key.id, 3_600_000);
    key.isRotated = true;
    const id = issued?.record.id ?? '';
    this.keys.push({ id, calls: [...key.calls], limit: key.limit, isRotated: false });
  }

  async change(key: Key, limit: bigint | null, period: SpendPeriod): Promise<void> {
    await keys.update(key.id, () => ({
      spendLimitMicroUsd: limit,
      spendLimitPeriod: limit === null ? null : period,
    }));
    key.limit = limit;
  }

  /** Every key counts in every period what the model says: all happens on one day. */
  async agrees(): Promise<void> {
    for (const key of this.keys) {
      if (key.limit !== null) expect(await keys.spentInPeriod(key.id)).toBe(this.spent(key));
      for (const period of PERIODS) {
        const [row] = await database.dataSource.query<{ spent: string }[]>(
          'SELECT key_spent($1, $2, key_period_start($3, now())) AS spent',
          [this.accountId, key.id, period],
        );
        expect(BigInt(row?.spent ?? -1)).toBe(this.spent(key));
      }
    }
  }
}

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
const number = fc.nat(1_000);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('call' as const), of: number, by: number }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('pay', 'fail', 'refund', 'reverse', 'change', 'clear', 'age'),
      of: number,
      by: number,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('rotate' as const), of: number, by: number }),
  },
);

type OnCall = (model: Model, call: Call, by: number) => Promise<void>;
const ON_CALLS: Partial<Record<Step['do'], OnCall>> = {
  pay: (model, call) => model.end(call, call.counts / 2n),
  fail: (model, call) => model.end(call, null),
  refund: (model, call, by) => model.refund(call, BigInt(by)),
  reverse: (model, call) => model.reverse(call),
};
type OnKey = (model: Model, key: Key, by: number) => Promise<void>;
const ON_KEYS: Partial<Record<Step['do'], OnKey>> = {
  call: (model, key, by) => model.call(key, BigInt(by + 1) * 100n),
  rotate: (model, key) => model.rotate(key),
  change: (model, key, by) =>
    model.change(key, LIMIT - BigInt(by), model.pick(PERIODS, by) ?? 'day'),
  clear: (model, key) => model.change(key, null, 'day'),
  age: (model) => model.age(),
};

async function take(model: Model, { do: what, of, by }: Step): Promise<void> {
  const key = model.pick(model.keys, of);
  const call = model.pick(model.calls, of);
  if (key) await ON_KEYS[what]?.(model, key, by);
  if (call) await ON_CALLS[what]?.(model, call, by);
}

describe('the spend counter of a key and its successors', () => {
  it('survives every change of their limits, with both keys in use, in any order of events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: STEPS }), async (steps) => {
        const model = await Model.begin();
        for (const each of steps) await take(model, each);
        await model.agrees();
      }),
      { numRuns: RUNS },
    );
  });

  it('never exceeds the limit when the period is changed during the overlap', async () => {
    const model = await Model.begin();
    const [first] = model.keys as [Key];
    await model.call(first, 180_000n);
    await model.end(first.calls[0]!, 180_000n);
    await model.rotate(first);
    const second = model.keys[1]!;
    await model.change(second, LIMIT, 'month');
    await model.call(second, 20_001n);
    await model.age();
    await model.call(second, 20_001n);
    await model.change(second, null, 'day');
    await model.change(second, LIMIT, 'total');
    await model.rotate(second);
    const third = model.keys[2]!;
    await model.change(third, LIMIT, 'day');
    await model.call(third, 20_001n);
    await model.call(third, 20_000n);
    await model.agrees();
  });
});
