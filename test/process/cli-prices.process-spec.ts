import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { DAY_MS } from '../../src/common/time/spans.js';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt } from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../support/test-ledger.js';

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await cleanUp();
}, PROCESS_TEST_TIMEOUT_MS);

async function cli(...args: string[]) {
  const program = runBuilt('cli.js', args, { DATABASE_URL: database.url });
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}
async function answerOf(...args: string[]): Promise<{ readonly data: object[] }> {
  const { code, stdout, stderr } = await cli(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as { data: object[] };
}

describe('price-book:what-if', () => {
  it(
    'says what every account would have paid, also for calls on both sides of a page',
    async () => {
      const { dataSource } = database;
      const accounts = [await fundedAccount(dataSource, 9n), await fundedAccount(dataSource, 9n)];
      // A thousand records fit a page. Those of the day before the first, and of the day after the last, do not count.
      await dataSource.query(
        `INSERT INTO execution (account_id, id, held, model, endpoint, status, created_at, completed_at, charged, unit,
                                quantity, unit_price, estimated)
         SELECT ($1::uuid[])[1 + n % 2],
                (left(first_id_since(at + interval '1 hour')::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
                360, 'aud-v4', '/v1/audio/speech', 'succeeded', at, at, 360, 'code_point', '3', '"120"', false
           FROM generate_series(0, 2599) n,
                LATERAL (SELECT timestamptz '2026-03-01 00:00Z' + n * interval '1 minute' AS at) t`,
        [accounts],
      );
      await answerOf('price-book:create', 'half', '--factor-permille', '500');
      const days = ['--from', '2026-03-01', '--to', '2026-03-01'];
      const { data } = await answerOf('price-book:what-if', 'half', ...days);
      const minutes = 1_440n;
      const paid = {
        charged_microusd: ((minutes / 2n) * 360n).toString(),
        would_charge_microusd: ((minutes / 2n) * 180n).toString(),
      };
      const ids = accounts.map((id) => toPublicId('acct', id)).sort();
      expect(data).toMatchObject(ids.map((id) => ({ account_id: id, ...paid })));
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'prices what was charged today, and ends with 1 for an unknown book',
    async () => {
      const accountId = await fundedAccount(database.dataSource, 1_000n);
      const { executions, owed } = ledgerOf(database.dataSource);
      const start = startOf(accountId, 600n);
      await executions.begin(start);
      const basis = {
        unit: 'code_point',
        quantity: 5,
        unitPrice: '120',
        isEstimated: false,
      } as const;
      await executions.succeed(start, { ...successOf(600n), basis });
      await owed.beforeApplicationShutdown();
      await answerOf('price-book:create', 'third', '--factor-permille', '333');
      const [from, to] = [dayOf(Date.now() - DAY_MS), dayOf(Date.now() + DAY_MS)];
      const { data } = await answerOf('price-book:what-if', 'third', '--from', from, '--to', to);
      expect(data).toMatchObject([
        {
          account_id: toPublicId('acct', accountId),
          charged_microusd: '600',
          would_charge_microusd: '200',
        },
      ]);
      expect((await cli('price-book:what-if', 'nothing')).code).toBe(1);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('catalog:changes', () => {
  it(
    'lists which model cost what, from when on and by which file, page by page',
    async () => {
      const price = (microUsd: number) =>
        JSON.stringify({ unit: 'code_point', micro_usd: microUsd });
      const note = (prices: string[], file: string | null) =>
        database.dataSource.query('SELECT catalog_note_changes($1, $2, $3, $4)', [
          ['m1', 'm2'].slice(0, prices.length),
          prices,
          prices.map(() => file),
          file,
        ]);
      await note([price(1), price(5)], null);
      await note([price(2), price(5)], '/etc/overlay.json');
      await note([price(2)], '/etc/overlay.json');
      const all = [
        { model: 'm2', price: null, file: '/etc/overlay.json' },
        { model: 'm1', price: { micro_usd: 2 }, file: '/etc/overlay.json' },
        { model: 'm2', price: { micro_usd: 5 }, file: null },
        { model: 'm1', price: { micro_usd: 1 }, file: null },
      ];
      const first = await answerOf('catalog:changes', '--limit', '3');
      expect(first).toMatchObject({ data: all.slice(0, 3), next_cursor: expect.any(String) });
      const { next_cursor: cursor } = first as { next_cursor?: string };
      const rest = await answerOf('catalog:changes', '--cursor', String(cursor));
      expect(rest).toMatchObject({ data: all.slice(3), next_cursor: null });
      const one = await answerOf('catalog:changes', '--model', 'm1');
      expect(one).toMatchObject({ data: [all[1], all[3]] });
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});
