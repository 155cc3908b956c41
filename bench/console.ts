import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { type Gateway, startGateway } from '../src/bootstrap/start-gateway.js';
import { DAY_SECONDS } from '../src/common/time/spans.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { createDataSource, maintenanceConnectionOf } from '../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/platform/database/run-migrations.js';
import { hearPlans } from '../test/support/explain-plans.js';
import {
  type ConsoleStock,
  fillConsole,
  LARGE_ACCOUNT,
  multiplyTask,
} from './console-load/fill-console.js';
import { type BenchResult, round } from './result.js';

/** `BENCH_ROWS=200000` fills a fiftieth. */
const EXECUTIONS = Number(process.env.BENCH_ROWS ?? 10_000_000);
const STOCK: ConsoleStock = {
  executions: EXECUTIONS,
  accounts: Math.min(10_000, Math.ceil(EXECUTIONS / 20)),
};
/** Where the filled database is kept for the next run: the filling takes many times as long as the measurement. */
const KEPT = process.env.BENCH_DATA_DIR;
const ADMIN_TOKEN = 'bench-admin-token-0123456789';
const REPEATS = 3;
/** Longer than an overview is answered again. */
const PAUSE_MS = 5_100;
const TARGET_MS = 300;
/** A table of so many rows is read by an index, or not at all. */
const LARGE_ROWS = 50_000;
const TASK_PATIENCE_MS = 60_000;
/** The plan of a statement is told once \`auto_explain.log_min_duration\` is set. */
const EXPLAINS =
  '-c session_preload_libraries=auto_explain -c auto_explain.log_nested_statements=on -c auto_explain.log_level=notice';

const VIDEO = { model: 'vid-motion', prompt: 'rain', seconds: '5' };
const SCAN = /Seq Scan on (\w+)/g;
const INDEX = /(?:Bitmap Index Scan on|Scan(?: Backward)? using) (\w+)/g;

const LARGE_TABLES = `
  SELECT c.relname AS name, array_agg(i.relname::text) AS indexes
    FROM pg_class c JOIN pg_index x ON x.indrelid = c.oid JOIN pg_class i ON i.oid = x.indexrelid
   WHERE c.reltuples >= ${LARGE_ROWS} AND c.relnamespace = 'public'::regnamespace GROUP BY 1`;

interface Bench {
  readonly gateway: Gateway;
  readonly patient: DataSource;
  /** An operator, or the holder of a key of the large account. */
  readonly keys: Readonly<Record<'admin' | 'v1', string>>;
  readonly account: string;
}

/**
 * What the console asks first, among ten million calls of 10,000 accounts (\`BENCH_ROWS\`): the slowest of three in milliseconds, and
 * the plan of each. A sequential scan of a large table misses the target.
 */
export async function run(): Promise<BenchResult> {
  const dataDir = KEPT ?? (await mkdtemp(join(tmpdir(), 'shim-bench-')));
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o755);
  const settings = { fsync: 'off', max_wal_size: '8GB', maintenance_work_mem: '512MB' };
  const server = await EmbeddedPostgres.start({ dataDir, settings });
  const dataSource = await createDataSource({ url: server.url }).initialize();
  const patient = await maintenanceConnectionOf(dataSource).initialize();
  try {
    await runMigrations(dataSource);
    const isFilled = (await patient.query<unknown[]>('SELECT FROM execution LIMIT 1')).length > 0;
    if (!isFilled) await fillConsole(patient, STOCK);
    const gateway = await startGateway(configOf(server.url, dataDir), pino({ level: 'silent' }));
    try {
      return await measure(await benchOf(gateway, patient, isFilled));
    } finally {
      await gateway.stop();
    }
  } finally {
    await patient.destroy();
    await dataSource.destroy();
    await server.stop();
    if (KEPT === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}

function configOf(databaseUrl: string, dataDir: string) {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', EXPLAINS);
  const SECRET_KEY = 'a-secret-key-for-the-bench-0123456789';
  const environment = { PORT: '0', DATABASE_URL: url.href, SECRET_KEY, ADMIN_TOKEN, SANDBOX: 'on' };
  return loadConfig({ ...environment, DATA_DIR: join(dataDir, 'files'), RATE_LIMIT_RPM: '0' });
}

/** Buys a video of the large account, and makes many of it. */
async function benchOf(gateway: Gateway, patient: DataSource, isFilled: boolean): Promise<Bench> {
  await patient.query(`UPDATE account SET play_money = true`);
  const [row] = await patient.query<[{ id: string }]>(`SELECT ${LARGE_ACCOUNT} AS id`);
  const account = `acct_${row.id.replaceAll('-', '')}`;
  const made = await ask(gateway.url, `/admin/accounts/${account}/keys`, ADMIN_TOKEN, {});
  const key = (JSON.parse(made) as { key: string }).key;
  await ask(gateway.url, '/v1/videos', key, VIDEO);
  const giveUpAt = performance.now() + TASK_PATIENCE_MS;
  const ended = `SELECT FROM task WHERE status = 'succeeded'`;
  while ((await patient.query<unknown[]>(ended)).length === 0) {
    if (performance.now() > giveUpAt) throw new Error('the task does not end');
    await sleep(100);
  }
  if (!isFilled) await multiplyTask(patient, STOCK);
  return { gateway, patient, keys: { admin: ADMIN_TOKEN, v1: key }, account };
}

/** What the first screens ask: of operators *Today*, of customers *Home*. */
const firstPaths = (): readonly string[] => {
  const dayAgo = Math.floor(Date.now() / 1000) - DAY_SECONDS;
  return [
    '/admin/overview',
    `/admin/usage?group_by=hour,model&from=${dayAgo}`,
    '/admin/tasks?status=reconciliation_required',
    '/v1/account',
    '/v1/holds',
    '/v1/executions',
    '/v1/key',
  ];
};

/** What the other screens list. */
const listPaths = (account: string): readonly string[] => [
  '/admin/usage?group_by=hour,model',
  '/admin/usage?group_by=day,model',
  '/admin/accounts',
  '/admin/accounts?sort=burn',
  '/admin/accounts?sort=spent',
  '/admin/accounts?sort=available',
  `/admin/accounts/${account}`,
  `/admin/accounts/${account}/ledger`,
  `/admin/accounts/${account}/keys`,
  `/admin/usage?group_by=hour,model&account_id=${account}`,
  '/admin/holds',
  '/admin/executions',
  `/admin/executions?account_id=${account}`,
  '/admin/tasks',
  '/admin/webhook-deliveries',
  '/admin/webhook-deliveries?status=failed',
  '/v1/tasks',
  '/v1/ledger',
  '/v1/usage?group_by=hour,model',
];

async function measure(bench: Bench): Promise<BenchResult> {
  const { gateway, account, keys } = bench;
  const look = (path: string) =>
    ask(gateway.url, path, path.startsWith('/v1/') ? keys.v1 : keys.admin);
  const first = firstPaths();
  const paths = [...first, ...listPaths(account)];
  const slowest = new Map<string, number>();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const path of paths) {
      const started = performance.now();
      await look(path);
      slowest.set(path, Math.max(performance.now() - started, slowest.get(path) ?? 0));
    }
    await sleep(PAUSE_MS);
  }
  const plans = await plansOf(bench, paths, look);
  const scanned = [...plans].filter(([, nodes]) => nodes.includes('Seq Scan'));
  const nameOf = (path: string) => path.replace(account, '{id}').replace(/&from=.*/, ' of a day');
  const times = [...slowest].map(
    ([path, ms]) => [`${nameOf(path)}, slowest ms`, round(ms)] as const,
  );
  return {
    name: 'console',
    figures: {
      executions: STOCK.executions,
      accounts: STOCK.accounts,
      ...Object.fromEntries(times),
      ...Object.fromEntries([...plans].map(([path, nodes]) => [`${nameOf(path)}, plan`, nodes])),
      'lists that scan a large table': scanned.length,
    },
    targets: {
      ...Object.fromEntries(first.map((path) => [`${nameOf(path)}, slowest ms`, `≤ ${TARGET_MS}`])),
      'lists that scan a large table': '0',
    },
    passed: scanned.length === 0 && first.every((path) => (slowest.get(path) ?? 0) <= TARGET_MS),
  };
}

/** How each call reads the large tables: \`execution by execution_by_id\`, or \`Seq Scan of execution\`. */
async function plansOf(
  { gateway, patient }: Bench,
  paths: readonly string[],
  look: (path: string) => Promise<unknown>,
): Promise<Map<string, string>> {
  const tables = await patient.query<{ name: string; indexes: string[] }[]>(LARGE_TABLES);
  const large = new Set(tables.map(({ name }) => name));
  const indexesOfLarge = new Set(tables.flatMap(({ indexes }) => indexes));
  const heard = new Set<string>();
  hearPlans(gateway.app.get(DataSource), (_statement, plan) => {
    for (const [, table = ''] of plan.matchAll(SCAN)) {
      if (large.has(table)) heard.add(`Seq Scan of ${table}`);
    }
    for (const [, index = ''] of plan.matchAll(INDEX)) {
      if (indexesOfLarge.has(index)) heard.add(index);
    }
  });
  await patient.query(`LOAD 'auto_explain'`);
  await patient.query('ALTER SYSTEM SET auto_explain.log_min_duration = 0');
  await patient.query('SELECT pg_reload_conf()');
  await sleep(PAUSE_MS);
  const plans = new Map<string, string>();
  for (const path of paths) {
    heard.clear();
    await look(path);
    plans.set(path, [...heard].sort().join(', '));
  }
  return plans;
}

async function ask(url: string, path: string, token: string, body?: object): Promise<string> {
  const answer = await fetch(url + path, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text;
}
