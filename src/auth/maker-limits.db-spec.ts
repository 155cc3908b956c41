import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endTask } from '../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import {
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../test/support/test-ledger.js';
import { auditBooks } from '../billing/audit/usage-audit.js';
import type { ExecutionStart } from '../billing/calls/execution-commands.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { SystemClock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type KeyTerms } from './api-keys.service.js';

const RUNS = 12;
const STEPS = 25;
const LIMIT = 200_000n;
const PARALLEL_LIMIT = 5_000n;
const TERMS: KeyTerms = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
};

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

const issue = async (accountId: string, limit: bigint | null, makerId: string | null = null) => {
  const period = limit === null ? null : ('day' as const);
  const terms = { ...TERMS, spendLimitMicroUsd: limit, spendLimitPeriod: period };
  return (await keys.issue(accountId, terms, makerId)).record.id;
};
const reverse = (accountId: string, id: string) =>
  database.dataSource.query(
    `SELECT execution_cancel($1, $2, NULL, 'm', '/', 'service_unavailable', NULL, NULL)`,
    [accountId, id],
  );
async function submit(accountId: string, key: string, amount: number) {
  const id = uuidV7(Date.now());
  const [row] = await database.dataSource.query<{ outcome: string }[]>(
    `SELECT outcome FROM task_submit_v2($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true,
       'm', 'waiting:sandbox', $4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL, NULL)`,
    [accountId, id, key, amount],
  );
  return { id, outcome: row?.outcome };
}

/** What counts of a call: what it holds or was charged, less what was given back. */
interface Call {
  readonly start: ExecutionStart;
  /** For its key and the successors of that which took it over, and for the key that made its key. */
  state: 'open' | 'paid' | 'over';
  counts: bigint;
}

/** A key that another key made, and its calls. */
interface Made {
  id: string;
  readonly limit: bigint | null;
  readonly calls: Call[];
}

/** A maker, its own calls and those of the keys that it made; all in one day. */
class Model {
  makerId = '';
  limit: bigint | null = LIMIT;
  readonly own: Call[] = [];
  readonly made: Made[] = [];
  readonly calls: Call[] = [];

  constructor(readonly accountId: string) {}

  static async begin(): Promise<Model> {
    const model = new Model(await fundedAccount(database.dataSource, 1_000_000_000n));
    model.makerId = await issue(model.accountId, LIMIT);
    for (const limit of [null, LIMIT / 2n]) {
      const id = await issue(model.accountId, limit, model.makerId);
      model.made.push({ id, limit, calls: [] });
    }
    return model;
  }

  spent = (): bigint => sum([this.own, ...this.made.map((made) => made.calls)].flat());

  async call(by: number): Promise<void> {
    const made = this.made[by % (this.made.length + 1)];
    const amount = BigInt(by + 1) * 100n;
    const apiKeyId = made?.id ?? this.makerId;
    const start = { ...startOf(this.accountId, amount), apiKeyId, isCapped: true };
    const fits =
      (this.limit === null || this.spent() + amount <= this.limit) &&
      (!made?.limit || sum(made.calls) + amount <= made.limit);
    const { outcome } = await calls.executions.begin(start);
    expect(outcome).toBe(fits ? 'held' : 'over_limit');
    if (!fits) return;
    const call: Call = { start, state: 'open', counts: amount };
    (made?.calls ?? this.own).push(call);
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
    if (call.state !== 'paid' || call.counts < amount) return;
    const request = {
      of: 'execution',
      id: call.start.executionId,
      amountMicroUsd: amount,
      idempotencyKey: `${call.counts}`,
      note: null,
    } as const;
    await ledger.refund(request);
    call.counts -= amount;
  }

  async reverse(call: Call): Promise<void> {
    await reverse(this.accountId, call.start.executionId);
    call.counts = 0n;
    call.state = 'over';
  }

  async rotateMaker(): Promise<void> {
    this.makerId = (await keys.rotate(this.makerId, 0))?.record.id ?? '';
  }

  async rotateMade(by: number): Promise<void> {
    const made = this.made[by % this.made.length];
    if (made) made.id = (await keys.rotate(made.id, 0))?.record.id ?? '';
  }

  async change(limit: bigint | null, period: 'day' | 'month' | 'total'): Promise<void> {
    const spendLimitPeriod = limit === null ? null : period;
    await keys.update(this.makerId, () => ({ spendLimitMicroUsd: limit, spendLimitPeriod }));
    this.limit = limit;
  }

  async agrees(): Promise<void> {
    if (this.limit !== null) expect(await keys.spentInPeriod(this.makerId)).toBe(this.spent());
    for (const { id, limit, calls: own } of this.made) {
      if (limit !== null) expect(await keys.spentInPeriod(id)).toBe(sum(own));
    }
  }
}

const sum = (list: readonly Call[]) => list.reduce((total, { counts }) => total + counts, 0n);
const PERIODS = ['day', 'month', 'total'] as const;
const step = fc.record({
  does: fc.constantFrom(
    ...(['call', 'call', 'call', 'pay', 'pay', 'fail', 'refund', 'reverse'] as const),
    ...(['maker', 'made', 'change', 'clear'] as const),
  ),
  of: fc.nat(1_000),
  by: fc.nat(1_000),
});

async function take(model: Model, { does, of, by }: { does: string; of: number; by: number }) {
  const call = model.calls[of % Math.max(1, model.calls.length)];
  if (does === 'call') await model.call(by);
  if (does === 'maker') await model.rotateMaker();
  if (does === 'made') await model.rotateMade(by);
  if (does === 'change') await model.change(LIMIT - BigInt(by), PERIODS[by % 3] ?? 'day');
  if (does === 'clear') await model.change(null, 'day');
  if (!call) return;
  if (does === 'pay') await model.end(call, call.counts / 2n);
  if (does === 'fail') await model.end(call, null);
  if (does === 'refund') await model.refund(call, BigInt(by + 1));
  if (does === 'reverse') await model.reverse(call);
}

describe('what the keys that a key made spend', () => {
  it('counts against its own limit in any order of events, after rotations and changes of the limit too', async () => {
    const histories = fc.array(step, { minLength: STEPS, maxLength: STEPS });
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        const model = await Model.begin();
        for (const each of steps) await take(model, each);
        await model.agrees();
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    expect(await auditBooks(database.dataSource, 'full')).toMatchObject({ discrepancies: [] });
  });

  it('is never more than its limit, with calls and tasks of many keys in several processes at once', async () => {
    const accountId = await fundedAccount(database.dataSource, 1_000_000n);
    const makerId = await issue(accountId, PARALLEL_LIMIT);
    const made = await Promise.all([1, 2, 3, 4, 5].map(() => issue(accountId, null, makerId)));
    const spenders = [makerId, ...made];
    const processes = [calls, ledgerOf(database.dataSource)];
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, async (_, index) => {
        const apiKeyId = spenders[index % spenders.length] ?? '';
        if (index % 4 === 0) return (await submit(accountId, apiKeyId, 100)).outcome;
        const start = { ...startOf(accountId, 100n), apiKeyId, isCapped: true };
        return (await processes[index % 2]?.executions.begin(start))?.outcome;
      }),
    );
    const begun = outcomes.filter((outcome) => outcome === 'held' || outcome === 'created');
    expect(begun).toHaveLength(Number(PARALLEL_LIMIT) / 100);
    expect(new Set(outcomes)).toEqual(new Set(['held', 'created', 'over_limit']));
    expect(await keys.spentInPeriod(makerId)).toBe(PARALLEL_LIMIT);
  });

  it('is freed by a task that fails, and by what an error gives back of a record that was dropped', async () => {
    const accountId = await fundedAccount(database.dataSource, 1_000_000n);
    const makerId = await issue(accountId, 500n);
    const child = await issue(accountId, null, makerId);
    const [failing, paid] = [
      await submit(accountId, child, 200),
      await submit(accountId, child, 300),
    ];
    expect((await submit(accountId, makerId, 1)).outcome).toBe('over_limit');
    await endTask(database.dataSource, accountId, failing.id, 'failed');
    await endTask(database.dataSource, accountId, paid.id, 100);
    expect(await keys.spentInPeriod(makerId)).toBe(100n);
    const start = { ...startOf(accountId, 50n), apiKeyId: child, isCapped: true };
    expect(await calls.executions.begin(start)).toMatchObject({ outcome: 'held' });
    await calls.executions.succeed(start, successOf(50n));
    await database.dataSource.query('DELETE FROM execution WHERE id = $1', [start.executionId]);
    await database.dataSource.query(`INSERT INTO dropped_record VALUES ($1, $2, 1, 50)`, [
      accountId,
      start.executionId,
    ]);
    await database.dataSource.query(
      `SELECT execution_cancel($1, $2, $3, 'm', '/', 'service_unavailable', NULL, NULL)`,
      [accountId, start.executionId, child],
    );
    expect(await keys.spentInPeriod(makerId)).toBe(100n);
  });

  it('is compared with their calls by a full audit', async () => {
    const accountId = await fundedAccount(database.dataSource, 1_000n);
    const makerId = await issue(accountId, null);
    await submit(accountId, await issue(accountId, null, makerId), 200);
    const add = (amount: number) =>
      database.dataSource.query(
        'UPDATE maker_spend SET total_spent = total_spent + $2 WHERE api_key_id = $1',
        [makerId, amount],
      );
    const findings = async () => {
      const { discrepancies } = await auditBooks(database.dataSource, 'full');
      return discrepancies.filter((found) => found.accountId === accountId);
    };
    await add(1);
    expect(await findings()).toEqual([
      {
        accountId,
        rule: 'what made keys spent is what their calls cost',
        detail: `key ${makerId}: 201 against 200`,
      },
    ]);
    await add(-1);
    expect(await findings()).toEqual([]);
  });
});
