import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { endTask } from '../../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  accountsOf,
  FAILURE,
  fundedAccount,
  IDLE_TICKER,
  ledgerOf,
  startOf,
} from '../../../test/support/test-ledger.js';
import type { RunOfCall } from '../../admission/admitted-call.js';
import { ApiKey } from '../../auth/api-key.entity.js';
import { ApiKeysService, type KeyTerms } from '../../auth/api-keys.service.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { SystemClock } from '../../common/time/clock.js';
import { DAY_MS } from '../../common/time/spans.js';
import { EVENT_TYPES } from './event-type.js';
import { KeyExpiryEvents } from './key-expiry-events.js';

const CREDIT = 1_000n;
const TERMS: KeyTerms = {
  ...{ name: 'ci', allowedModels: null, expiresAt: null, requestsPerMinute: null },
};

interface Told {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

let database: TestDatabase;
let keys: ApiKeysService;
let calls: ReturnType<typeof ledgerOf>;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  keys = new ApiKeysService(database.dataSource.getRepository(ApiKey), new SystemClock());
  calls = ledgerOf(database.dataSource);
});
afterAll(() => database.drop());
beforeEach(async () => {
  accountId = await fundedAccount(database.dataSource, CREDIT);
  await endpoint(EVENT_TYPES);
});

const query = <Row>(sql: string, parameters: unknown[] = []) =>
  database.dataSource.query<Row[]>(sql, parameters);
const endpoint = (events: readonly string[], of = accountId) =>
  query(
    `INSERT INTO webhook_endpoint (account_id, id, url, origin, sealed_secret, events, created_at)
       VALUES ($1, $2, 'https://a.example/', 'https://a.example', 'sealed', $3, now())`,
    [of, randomUUID(), events],
  );
async function told(): Promise<Told[]> {
  const rows = await query<{ body: Buffer }>(
    'SELECT body FROM webhook_delivery WHERE account_id = $1 ORDER BY id',
    [accountId],
  );
  return rows.map(({ body }) => JSON.parse(body.toString()) as Told);
}
const types = async () => (await told()).map(({ type }) => type);
async function begin(
  amount: bigint,
  apiKeyId: string = randomUUID(),
  isCapped = false,
  run?: RunOfCall,
) {
  const start = { ...startOf(accountId, amount), apiKeyId, isCapped, run };
  return { start, ...(await calls.executions.begin(start)) };
}
async function submit(amount: number): Promise<string> {
  const id = uuidV7(Date.now());
  await query(
    `SELECT outcome FROM task_submit_capped($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true,
       'm', 'waiting:sandbox', $4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    [accountId, id, randomUUID(), amount],
  );
  return id;
}

describe('balance.low', () => {
  it('is told once when less is available than the mark, and again only after more was', async () => {
    await accountsOf(database.dataSource).update(accountId, { lowBalanceMicroUsd: 500n });
    const { start } = await begin(400n);
    expect(await types()).toEqual([]);
    const second = await begin(200n);
    await begin(100n);
    expect(await told()).toMatchObject([
      { type: 'balance.low', data: { available_microusd: '400', low_balance_microusd: '500' } },
    ]);
    await calls.executions.fail(second.start, FAILURE);
    await calls.executions.fail(start, FAILURE);
    await begin(600n);
    expect(await types()).toEqual(['balance.low', 'balance.low']);
  });

  it('is told anew when the mark is changed, not when it is set to what it is', async () => {
    const accounts = accountsOf(database.dataSource);
    for (const mark of [5_000n, 5_000n, 6_000n, 6_000n])
      await accounts.update(accountId, { lowBalanceMicroUsd: mark });
    await accounts.update(accountId, { name: 'renamed' });
    const marks = (await told()).map(({ data }) => data.low_balance_microusd);
    expect(marks).toEqual(['5000', '6000']);
  });

  it('is one delivery for each endpoint that asks for it, of one event', async () => {
    await endpoint(['balance.low']);
    await endpoint(['task.finished']);
    await accountsOf(database.dataSource).update(accountId, { lowBalanceMicroUsd: 5_000n });
    const [first, second, ...others] = await told();
    expect([first?.type, second?.type, others]).toEqual(['balance.low', 'balance.low', []]);
    expect(first?.id).toBe(second?.id);
  });
});

describe('balance.depleted', () => {
  it('is told at the first refusal for want of balance, at most once an hour, for calls and tasks', async () => {
    await Promise.all([begin(1_001n), begin(2_000n), begin(3_000n)]);
    await submit(5_000);
    expect(await types()).toEqual(['balance.depleted']);
    await query(`UPDATE account SET depleted_at = now() - interval '61 minutes' WHERE id = $1`, [
      accountId,
    ]);
    await submit(5_000);
    expect(await types()).toEqual(['balance.depleted', 'balance.depleted']);
  });
});

describe('the page where an account gets more money', () => {
  const PAGE = 'https://shop.example/{account}?from=shim';

  it('is named by balance.low and balance.depleted, with the id of the account', async () => {
    await query(`INSERT INTO topup_page (url) VALUES ($1)`, [PAGE]);
    try {
      await accountsOf(database.dataSource).update(accountId, { lowBalanceMicroUsd: 5_000n });
      await begin(1_001n);
      const url = PAGE.replace('{account}', `acct_${accountId.replaceAll('-', '')}`);
      expect(await told()).toMatchObject([
        { type: 'balance.low', data: { topup_url: url } },
        { type: 'balance.depleted', data: { topup_url: url } },
      ]);
    } finally {
      await query('DELETE FROM topup_page');
    }
    await query(`UPDATE account SET depleted_at = NULL WHERE id = $1`, [accountId]);
    await begin(1_001n);
    expect((await told()).at(-1)?.data.topup_url).toBeNull();
  });
});

describe('limit.reached', () => {
  it('is told at 80 and at 100 percent of the limit of a key, each once in a period', async () => {
    const terms = { ...TERMS, spendLimitMicroUsd: 100n, spendLimitPeriod: 'day' as const };
    const { record } = await keys.issue(accountId, terms);
    const made = (await keys.issue(accountId, TERMS, record.id)).record.id;
    await begin(79n, record.id, true);
    expect(await types()).toEqual([]);
    const { start } = await begin(1n, made, true);
    await calls.executions.fail(start, FAILURE);
    await begin(1n, made, true);
    await begin(20n, record.id, true);
    expect((await told()).map(({ data }) => data)).toMatchObject([
      { percent: 80, spend_limit_microusd: '100', spent_microusd: '80', spend_limit_period: 'day' },
      { percent: 100, spent_microusd: '100' },
    ]);
  });
});

describe('limit.reached of a run', () => {
  const run = { id: 'build-42', limitMicroUsd: 100n };

  it('is told at 80 and at 100 percent of its limit, by calls and tasks, each once', async () => {
    await begin(79n, undefined, false, run);
    expect(await types()).toEqual([]);
    const { start } = await begin(1n, undefined, false, run);
    await calls.executions.fail(start, FAILURE);
    await begin(1n, undefined, false, run);
    await query(
      `SELECT task_submit_v2($1, $2, NULL, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
         'waiting:sandbox', 20, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, $3, NULL, NULL)`,
      [accountId, uuidV7(Date.now()), run.id],
    );
    expect((await begin(1n, undefined, false, run)).outcome).toBe('over_run');
    expect((await told()).map(({ data }) => data)).toEqual([
      { run: run.id, percent: 80, spend_limit_microusd: '100', spent_microusd: '80' },
      { run: run.id, percent: 100, spend_limit_microusd: '100', spent_microusd: '100' },
    ]);
  });

  it('is told once as 100 percent by a first call that takes all of it, and never without a limit', async () => {
    await begin(100n, undefined, false, run);
    await begin(500n, undefined, false, { ...run, id: 'free', limitMicroUsd: undefined });
    expect((await told()).map(({ data }) => data.percent)).toEqual([100]);
  });

  it('is told at most once each by many calls at once, of two processes', async () => {
    const others = ledgerOf(database.dataSource);
    await Promise.all(
      Array.from({ length: 60 }, (_, nr) =>
        (nr % 2 === 0 ? calls : others).executions.begin({ ...startOf(accountId, 2n), run }),
      ),
    );
    const percents = (await told()).map(({ data }) => data.percent);
    expect([[100], [80, 100]]).toContainEqual(percents);
  });

  it('is told anew for a run of the same name after the former one was dropped', async () => {
    const { start } = await begin(100n, undefined, false, run);
    await calls.executions.fail(start, FAILURE);
    await query(
      `UPDATE run SET created_at = now() - interval '40 days', last_used_at = created_at - interval '40 days'`,
    );
    await query('SELECT run_drop(10)');
    await begin(90n, undefined, false, run);
    expect((await told()).map(({ data }) => data.percent)).toEqual([100, 80]);
  });
});

describe('task.finished and task.unknown', () => {
  it('are told with the change of the task', async () => {
    const [done, lost] = [await submit(100), await submit(100)];
    await endTask(database.dataSource, accountId, done, 60);
    await query(
      `UPDATE task SET status = 'reconciliation_required', completed_at = now() WHERE id = $1`,
      [lost],
    );
    expect(await told()).toMatchObject([
      {
        type: 'task.finished',
        data: {
          task_id: `task_${done.replaceAll('-', '')}`,
          status: 'succeeded',
          charged_microusd: '60',
        },
      },
      { type: 'task.unknown', data: { status: 'reconciliation_required', charged_microusd: null } },
    ]);
  });
});

describe('key.expiring', () => {
  it('is told seven days and one day before, once each, not of keys made for less', async () => {
    const expiry = new KeyExpiryEvents(database.dataSource, IDLE_TICKER);
    const issue = async (days: number, agedDays: number) => {
      const expiresAt = new Date(Date.now() + days * DAY_MS);
      const { record } = await keys.issue(accountId, { ...TERMS, expiresAt });
      await query(`UPDATE api_key SET created_at = now() - $2 * interval '1 day' WHERE id = $1`, [
        record.id,
        agedDays,
      ]);
      return record.id;
    };
    const soon = await issue(6, 30);
    await issue(8, 30);
    await issue(0.5, 0);
    const ticks = await Promise.all([expiry.tick(), expiry.tick()]);
    expect(ticks.sort()).toEqual([0, 1]);
    const id = `key_${soon.replaceAll('-', '')}`;
    expect(await told()).toMatchObject([{ data: { key_id: id, name: 'ci', days: 7 } }]);
    const later = `UPDATE api_key SET expires_at = now() + interval '20 hours' WHERE id = $1`;
    await query(later, [soon]);
    await expiry.tick();
    expect(await told()).toMatchObject([{ data: { days: 7 } }, { data: { key_id: id, days: 1 } }]);
  });
});
