import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { maintenanceConnectionOf } from '../src/platform/database/maintenance-connection.js';
import { runMigrations } from '../src/platform/database/run-migrations.js';
import { NOBODY, type UsageDimension, UsageReports } from '../src/billing/usage/usage-reports.js';
import { type BenchResult, percentile, round } from './result.js';

const DAYS = 365;
const ACCOUNTS = 20;
const KEYS = 3;
const MODELS = 5;
/** Latencies of a key and model on a day fall into so many buckets. */
const BUCKETS = 4;
const REPEATS = 20;
const LIMIT = 1_000;
const TARGET_MS = 50;

/** A year of sums, as they are kept: of each account, and of everybody. */
const FILL = `
  INSERT INTO usage_day
    SELECT a.id, day::date, ('00000000-0000-4000-8000-' || lpad(k::text, 12, '0'))::uuid, 'model-' || m, '/v1/audio/speech',
           100, 1, 1600, 192000
      FROM unnest($1::uuid[]) a(id), generate_series(now() - interval '${DAYS - 1} days', now(), '1 day') day,
           generate_series(1, ${KEYS}) k, generate_series(1, ${MODELS}) m`;
const FILL_EVERYBODY = `
  INSERT INTO usage_day
    SELECT '${NOBODY}', day, '${NOBODY}', model, endpoint, sum(calls), sum(failures), sum(quantity), sum(charged)
      FROM usage_day GROUP BY day, model, endpoint`;
const FILL_LATENCIES = `
  INSERT INTO usage_latency
    SELECT account_id, day, api_key_id, model, endpoint, 60 + b, calls / ${BUCKETS}
      FROM usage_day, generate_series(1, ${BUCKETS}) b`;

const FILL_MONTHS = [
  `INSERT INTO usage_month
     SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, sum(calls), sum(failures), sum(quantity), sum(charged)
       FROM usage_day WHERE account_id <> '${NOBODY}' GROUP BY 1, 2, 3`,
  `INSERT INTO usage_month_latency
     SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, bucket, sum(calls)
       FROM usage_latency WHERE account_id <> '${NOBODY}' GROUP BY 1, 2, 3, 4`,
];

/** What is asked of a year, by whom: the groups, and whether of one account. */
const QUESTIONS: readonly (readonly [string, readonly UsageDimension[], boolean])[] = [
  ['own, by day', ['day'], true],
  ['own, by day and model', ['day', 'model'], true],
  ['own, by day, model, key and endpoint', ['day', 'model', 'key', 'endpoint'], true],
  ['own, by model', ['model'], true],
  ['own, by key', ['key'], true],
  ['everybody, by day', ['day'], false],
  ['everybody, by model', ['model'], false],
  ['everybody, by day and model', ['day', 'model'], false],
  ['everybody, by account', ['account'], false],
  ['everybody, by key', ['key'], false],
];

/** Usage over a year of 20 accounts with 3 keys and 5 models each: median and slowest of 20 times, after a first one. */
export async function run(): Promise<BenchResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({ dataDir, settings: { fsync: 'off' } });
  const dataSource = await createDataSource({ url: server.url }).initialize();
  try {
    await runMigrations(dataSource);
    const accountId = await fill(dataSource);
    const reports = new UsageReports(dataSource);
    const figures: Record<string, number> = {};
    for (const [name, groupBy, isOwn] of QUESTIONS) {
      const ask = () => reports.rows({ ...yearOf(isOwn ? accountId : undefined), groupBy });
      await ask();
      const times: number[] = [];
      for (let repeat = 0; repeat < REPEATS; repeat += 1) {
        const started = performance.now();
        await ask();
        times.push(performance.now() - started);
      }
      figures[`${name}, median ms`] = round(percentile(times, 0.5));
      figures[`${name}, slowest ms`] = round(percentile(times, 1));
    }
    const medians = Object.keys(figures).filter((name) => name.endsWith('median ms'));
    return {
      name: 'usage',
      figures: { rows: ACCOUNTS * KEYS * MODELS * DAYS, ...figures },
      targets: Object.fromEntries(medians.map((name) => [name, `≤ ${TARGET_MS}`])),
      passed: medians.every((name) => (figures[name] ?? Infinity) <= TARGET_MS),
    };
  } finally {
    await dataSource.destroy();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Answers one of the accounts. */
async function fill(dataSource: DataSource): Promise<string> {
  const accounts = Array.from({ length: ACCOUNTS }, () => randomUUID());
  const patient = await maintenanceConnectionOf(dataSource).initialize();
  try {
    await patient.query(FILL, [accounts]);
    for (const statement of [FILL_EVERYBODY, FILL_LATENCIES, ...FILL_MONTHS, 'VACUUM ANALYZE']) {
      await patient.query(statement);
    }
  } finally {
    await patient.destroy();
  }
  return accounts[0] ?? '';
}

function yearOf(accountId: string | undefined) {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const DAY_MS = 86_400_000;
  return {
    fromDay: day(Date.now() - DAYS * DAY_MS),
    toDay: day(Date.now() + DAY_MS),
    accountId,
    apiKeyId: undefined,
    model: undefined,
    limit: LIMIT,
    offset: 0,
  };
}
