import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { createDataSource, maintenanceConnectionOf } from '../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/platform/database/run-migrations.js';
import type { ExecutionQuery, ExecutionsService } from '../src/billing/calls/executions.service.js';
import { ledgerOf } from '../test/support/test-ledger.js';
import { type BenchResult, percentile, round } from './result.js';
import { DAY_MS } from '../src/common/time/spans.js';

const ROWS = Number(process.env.BENCH_ROWS ?? 10_000_000);
const CHUNK = 1_000_000;
const ACCOUNTS = 1_000;
const DAYS = 31;
const REPEATS = 20;
const LIMIT = 20;
const FOUND_MS = 20;
const SCANNED_MS = 200;

/**
 * Calls spread over a month. Every fifth is of one account, every hundredth has a client's id, every thousandth failed.
 */
const FILL = `
  INSERT INTO execution (account_id, id, api_key_id, held, model, endpoint, client_request_id, status, charged, error_code,
                         completed_at, provider, upstream_model, provider_request_id, unit, quantity, unit_price,
                         estimated, first_byte_ms, duration_ms, created_at)
  SELECT accounts[a], (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
         keys[a], 1920, 'aud-v4', '/v1/audio/speech', CASE WHEN n % 100 = 0 THEN 'order-' || n END,
         CASE WHEN n % 1000 = 1 THEN 'failed' ELSE 'succeeded' END, CASE WHEN n % 1000 <> 1 THEN 1920 END,
         CASE WHEN n % 1000 = 1 THEN 'provider_timeout' END, at, 'elevenlabs', 'eleven_v4', 'req_' || n, 'code_point', '16',
         '"120"', false, 300, 900, at
    FROM (SELECT $1::uuid[] AS accounts, $2::uuid[] AS keys) ids, generate_series($3::bigint, $4::bigint) n,
         LATERAL (SELECT CASE WHEN n % 5 = 0 THEN 1 ELSE 2 + abs(hashint8(n)) % (${ACCOUNTS} - 1) END AS a,
                         now() - ($5 - n) * interval '${DAYS} days' / $5 AS at) t`;

/**
 * Lists and look-ups in the records of ten million calls (`BENCH_ROWS`): the slowest of several, the first of them
 * without anything in the cache.
 */
export async function run(): Promise<BenchResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  // Writing ends when the rows are made.
  const settings = { fsync: 'off', max_wal_size: '8GB', maintenance_work_mem: '512MB' };
  const server = await EmbeddedPostgres.start({ dataDir, settings });
  const dataSource = await createDataSource({ url: server.url }).initialize();
  try {
    await runMigrations(dataSource);
    const ids = await fill(dataSource);
    const { reads } = ledgerOf(dataSource);
    const slowest = Object.fromEntries(
      await inTurn(Object.entries(looksOf(reads, ids)), async ([name, look]) => {
        const times: number[] = [];
        for (let repeat = 0; repeat < REPEATS; repeat += 1) {
          const started = performance.now();
          await look(repeat);
          times.push(performance.now() - started);
        }
        return [`${name}, slowest ms`, round(percentile(times, 1))] as const;
      }),
    );
    const targetOf = (name: string) => (name.includes('scanned') ? SCANNED_MS : FOUND_MS);
    return {
      name: 'lists',
      figures: { rows: ROWS, ...slowest },
      targets: Object.fromEntries(
        Object.keys(slowest).map((name) => [name, `≤ ${targetOf(name)}`]),
      ),
      passed: Object.entries(slowest).every(([name, ms]) => ms <= targetOf(name)),
    };
  } finally {
    await dataSource.destroy();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Ids {
  readonly accounts: readonly string[];
  readonly keys: readonly string[];
  readonly executions: readonly string[];
}

type Look = (repeat: number) => Promise<unknown>;

function looksOf(reads: ExecutionsService, ids: Ids): Record<string, Look> {
  const [large = '', ...small] = ids.accounts;
  const [largeKey = '', ...smallKeys] = ids.keys;
  const list = (query: Partial<ExecutionQuery>) => reads.list({ limit: LIMIT, ...query });
  const weekAgo = new Date(Date.now() - 7 * DAY_MS);
  return {
    'by id': (repeat) => reads.find(ids.executions[repeat] ?? ''),
    'by account': (repeat) => list({ accountId: small[repeat] }),
    'by the largest account': () => list({ accountId: large }),
    'by account, a week ago': (repeat) =>
      list({ accountId: small[repeat], createdBefore: weekAgo }),
    'by key': (repeat) => list({ apiKeyId: smallKeys[repeat] }),
    'by the largest key': () => list({ apiKeyId: largeKey, createdBefore: weekAgo }),
    'by client request': (repeat) =>
      list({ accountId: large, clientRequestId: `order-${(repeat + 1) * 1_000}` }),
    'of all, newest': () => list({}),
    'status, 10,000 rows scanned': () => list({ accountId: large, status: 'failed' }),
    'model, 10,000 rows scanned': () => list({ model: 'aud-v3' }),
  };
}

async function fill(dataSource: DataSource): Promise<Ids> {
  const accounts = Array.from({ length: ACCOUNTS }, () => randomUUID());
  const keys = accounts.map(() => randomUUID());
  const indexes = await dataSource.query<{ make: string; drop: string }[]>(
    `SELECT indexdef AS make, 'DROP INDEX ' || indexname AS drop FROM pg_indexes
      WHERE tablename = 'execution' AND indexname <> 'execution_pkey'`,
  );
  const patient = await maintenanceConnectionOf(dataSource).initialize();
  for (const { drop } of indexes) await patient.query(drop);
  for (let from = 1; from <= ROWS; from += CHUNK) {
    await patient.query(FILL, [accounts, keys, from, Math.min(ROWS, from + CHUNK - 1), ROWS]);
  }
  for (const { make } of indexes) await patient.query(make);
  await patient.query('VACUUM ANALYZE execution');
  const found = await patient.query<{ id: string }[]>(
    `SELECT id FROM execution TABLESAMPLE SYSTEM (0.01) LIMIT ${REPEATS}`,
  );
  await patient.destroy();
  return { accounts, keys, executions: found.map(({ id }) => id) };
}

async function inTurn<In, Out>(items: In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
