import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { dataSourceWithPlans } from '../../../test/support/explain-plans.js';
import { maintenanceConnectionOf } from '../../platform/database/data-source.js';
import { UsageReports, type UsageRow } from './usage-reports.js';
import { NIL_UUID, type UsageDimension } from './usage-request.js';

const ACCOUNTS = 40;
const DAYS = 365;
/** Calls of a month that are in the sums. */
const CALLS = 30_000;
const YEAR = { from: '2025-01-01', to: '2026-01-01', limit: 1_000, offset: 0 };
const uuidOf = (n: string) => `('00000000-0000-4000-8000-' || lpad((${n})::text, 12, '0'))::uuid`;
const ACCOUNT = '00000000-0000-4000-8000-000000000007';
/** A key of that account. */
const KEY = '00000000-0000-4000-8000-000000000071';

/** A year of two keys and two models each, and of everybody; and calls that no report reads, because they are in the sums. */
const FILL = `
  INSERT INTO account (id, name) SELECT ${uuidOf('a')}, 'a' FROM generate_series(1, ${ACCOUNTS}) a;
  INSERT INTO api_key (id, account_id, prefix, hash, created_at)
    SELECT ${uuidOf('a * 10 + k')}, ${uuidOf('a')}, 'sk-x', sha256((a * 10 + k)::text::bytea), now()
      FROM generate_series(1, ${ACCOUNTS}) a, generate_series(1, 2) k;
  INSERT INTO usage_day (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged)
    SELECT ${uuidOf('a')}, date '2025-01-01' + d, ${uuidOf('a * 10 + k')}, 'model-' || m, '/v1/audio/speech', 4, 1, 9, 100
      FROM generate_series(1, ${ACCOUNTS}) a, generate_series(0, ${DAYS - 1}) d, generate_series(1, 2) k, generate_series(1, 2) m;
  INSERT INTO usage_day (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged)
    SELECT '${NIL_UUID}', day, '${NIL_UUID}', model, endpoint, sum(calls), sum(failures), sum(quantity), sum(charged)
      FROM usage_day GROUP BY day, model, endpoint;
  INSERT INTO usage_month
    SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, sum(calls), sum(failures), sum(quantity), sum(charged)
      FROM usage_day WHERE account_id <> '${NIL_UUID}' GROUP BY 1, 2, 3;
  INSERT INTO usage_latency SELECT account_id, day, api_key_id, model, endpoint, 60 + b, calls / 2
    FROM usage_day, generate_series(1, 2) b;
  INSERT INTO usage_month_latency
    SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, bucket, sum(calls)
      FROM usage_latency WHERE account_id <> '${NIL_UUID}' GROUP BY 1, 2, 3, 4;
  INSERT INTO execution (account_id, id, created_at, held, model, endpoint, status, completed_at, charged)
    SELECT ${uuidOf(`1 + n % ${ACCOUNTS}`)}, gen_random_uuid(), at, 7, 'gen-5', '/v1/audio/speech', 'succeeded', at, 7
      FROM generate_series(1, ${CALLS}) n, LATERAL (SELECT now() - (${CALLS} - n) * interval '30 days' / ${CALLS} AS at) t;
  UPDATE usage_state SET folded_until = now();
  ANALYZE`;

let database: TestDatabase;
let dataSource: DataSource;
let plans: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const patient = await maintenanceConnectionOf(database.dataSource).initialize();
  await patient.query(FILL);
  await patient.destroy();
  dataSource = await dataSourceWithPlans(database.url, (_statement, plan) => plans.push(plan));
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

interface Filter {
  readonly accountId?: string;
  readonly apiKeyId?: string;
}

/** A report, and how it read each table. */
async function reportOf(filter: Filter, groupBy: UsageDimension[], span: object = {}) {
  plans = [];
  const filters = { accountId: undefined, apiKeyId: undefined, model: undefined, ...filter };
  const request = { ...YEAR, ...span, ...filters, groupBy };
  const rows = await new UsageReports(dataSource, { music: () => [] }).rows(request);
  const lines = plans.flatMap((plan) => plan.split('\n'));
  const scans = lines.flatMap((line, index) =>
    / on usage_(day|latency|month|month_latency)\b/.test(line)
      ? [`${line.trim()} ${lines[index + 1]?.trim() ?? ''}`]
      : [],
  );
  return { rows, scans };
}

describe('usage over a year', () => {
  it.each<[string, Filter, UsageDimension[], number]>([
    ['an account by day', { accountId: ACCOUNT }, ['day'], DAYS],
    ['an account by model and key', { accountId: ACCOUNT }, ['model', 'key'], 4],
    ['a key by model, for operators', { apiKeyId: KEY }, ['model'], 2],
    ['a key by account, for operators', { apiKeyId: KEY }, ['account'], 1],
    ['everybody by day', {}, ['day'], DAYS],
  ])('of %s is found by the index on the account', async (_title, filter, groupBy, groups) => {
    const { rows, scans } = await reportOf(filter, groupBy);
    expect(rows).toHaveLength(groups);
    expect(scans.length).toBeGreaterThanOrEqual(2);
    for (const scan of scans) {
      expect(scan).toMatch(/^(->)? *(Bitmap )?(Index|Heap)/);
      expect(scan).toMatch(/Cond: \(+\(?account_id = /);
    }
  });

  it.each<[UsageDimension[], number]>([
    [['account'], ACCOUNTS],
    [['key'], ACCOUNTS * 2],
    [['account', 'key'], ACCOUNTS * 2],
  ])(
    'of everybody by %j reads whole months, and days only at the ends',
    async (groupBy, groups) => {
      const { rows, scans } = await reportOf({}, groupBy);
      expect(rows).toHaveLength(groups);
      const ofDays = scans.filter((scan) => !scan.includes(' on usage_month'));
      expect(scans.length).toBeGreaterThan(ofDays.length);
      for (const scan of ofDays) expect(scan).toMatch(/Cond: .*\(day >= /);
    },
  );

  it.each([
    ['2025-01-01', '2026-01-01'],
    ['2025-01-02', '2025-12-31'],
    ['2025-03-31', '2025-04-01'],
    ['2025-05-05', '2025-05-25'],
    ['2025-06-15', '2025-07-15'],
    ['2025-11-01', '2999-01-01'],
    ['2025-07-01', '2025-07-01'],
  ])('from %s to %s is the same by months and by days', async (from, to) => {
    const span = { from, to };
    const { rows: wanted } = await reportOf({}, ['day', 'account'], { ...span, limit: 100_000 });
    for (const groupBy of [['account'], ['key']] as UsageDimension[][]) {
      const { rows } = await reportOf({}, groupBy, span);
      for (const name of ['calls', 'failures', 'charged'] as const) {
        expect([groupBy, name, sumOf(rows, name)]).toEqual([groupBy, name, sumOf(wanted, name)]);
      }
      // Months are summed up over all models, whose units may differ.
      expect(rows.every(({ quantity, unit }) => quantity === null && unit === null)).toBe(true);
      expect(rows.every((row) => row.p50_bucket === 61 && row.p99_bucket === 62)).toBe(true);
    }
  });

  it.each<[string, Filter, UsageDimension[]]>([
    ['everybody by day', {}, ['day']],
    ['everybody by hour', {}, ['hour']],
    ['everybody by model and run', {}, ['model', 'run']],
    ['an account by model', { accountId: ACCOUNT }, ['model']],
  ])('of %s expects few calls that are not in the sums', async (_title, filter, groupBy) => {
    await reportOf(filter, groupBy);
    const expected = [...plans.join('\n').matchAll(/ execution_by_time .*rows=(\d+)/g)];
    expect(expected.length).toBeGreaterThan(0);
    // Of a third of all calls, which a planner assumes that knows nothing, it would rather read the whole table.
    for (const [, rows] of expected) expect(Number(rows)).toBeLessThan(CALLS / 20);
  });

  it('of a key that does not exist is empty', async () => {
    const { rows } = await reportOf({ apiKeyId: '00000000-0000-4000-8000-00000000ffff' }, ['day']);
    expect(rows).toEqual([]);
  });
});

function sumOf(rows: readonly UsageRow[], name: 'calls' | 'failures' | 'charged') {
  return rows.reduce((total, row) => total + Number(row[name]), 0);
}
