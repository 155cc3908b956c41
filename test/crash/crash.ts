import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../../src/platform/database/run-migrations.js';
import { countOption, runOptions } from '../support/long-run.js';
import { type CrashResult, crashRun } from './crash-run.js';

/**
 * 200 kills (`--kills N`), four processes at a time, whose clients leave at every point, with an outage of the database in
 * every fifth round (`--outage-every N`; more outages make more debts), with `--runs` calls that name runs with limits, with
 * `--fitted` calls that hold what fits, with `--books` calls that a price book prices, on a PostgreSQL with every flush on; the result
 * goes to bench/results/crash.json, or is added to what it says (`--more`).
 */
const values = runOptions({
  options: {
    kills: { type: 'string', default: '200' },
    more: { type: 'boolean' },
    'outage-every': { type: 'string', default: '5' },
    runs: { type: 'boolean', default: false },
    fitted: { type: 'boolean', default: false },
    books: { type: 'boolean', default: false },
  },
});
const PROCESSES = 4;
const OUTAGE_EVERY = countOption('--outage-every', values['outage-every']);
const ROUNDS = Math.ceil(countOption('--kills', values.kills) / PROCESSES);
const RESULT = fileURLToPath(new URL('../../bench/results/crash.json', import.meta.url));

const dataDir = await mkdtemp(join(tmpdir(), 'shim-crash-'));
// As root, the server runs as another user, which needs access.
await chmod(dataDir, 0o755);
const server = await EmbeddedPostgres.start({ dataDir });
const dataSource = await createDataSource({ url: server.url }).initialize();
try {
  await runMigrations(dataSource);
  const result = await crashRun({
    url: server.url,
    dataSource,
    rounds: ROUNDS,
    processes: PROCESSES,
    outageEvery: OUTAGE_EVERY,
    buys: { runs: values.runs, fitted: values.fitted, books: values.books },
  });
  const before = values.more ? (JSON.parse(await readFile(RESULT, 'utf8')) as CrashResult) : null;
  const text = `${JSON.stringify(before ? sumOf(before, result) : result, null, 2)}\n`;
  await mkdir(dirname(RESULT), { recursive: true });
  await writeFile(RESULT, text);
  process.stdout.write(text);
  const clean =
    result.lost + result.doubled + result.holdsLeftOpen === 0 && result.audit === 'exact';
  process.exitCode = clean ? 0 : 1;
} finally {
  await dataSource.destroy();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}

function sumOf(before: CrashResult, now: CrashResult): CrashResult {
  const sum = { ...now.acknowledged };
  for (const kind of Object.keys(sum) as (keyof typeof sum)[])
    sum[kind] += before.acknowledged[kind];
  return {
    kills: before.kills + now.kills,
    outages: before.outages + now.outages,
    acknowledged: sum,
    owedPaid: before.owedPaid + now.owedPaid,
    lost: before.lost + now.lost,
    doubled: before.doubled + now.doubled,
    audit: before.audit === 'exact' ? now.audit : 'broken',
    orphanedHolds: before.orphanedHolds + now.orphanedHolds,
    sweptAfterMs: Math.max(before.sweptAfterMs, now.sweptAfterMs),
    holdsLeftOpen: before.holdsLeftOpen + now.holdsLeftOpen,
  };
}
