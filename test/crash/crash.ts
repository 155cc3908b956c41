import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../../src/platform/database/run-migrations.js';
import { longRun, type OnEnd } from '../support/long-run.js';
import { type CrashFlags, crashFlags } from './crash-flags.js';
import { type CrashResult, crashRun } from './crash-run.js';
import type { PricedCounts } from './crash-books.js';

/** What bench/results/crash.json says: the flags of each run, and the sum of their results. */
interface CrashReport extends CrashResult {
  readonly runs: readonly CrashFlags[];
}

const PROCESSES = 4;
const RESULT = fileURLToPath(new URL('../../bench/results/crash.json', import.meta.url));

/**
 * Kills, four processes at a time, whose clients leave at every point, with outages of the database, on a PostgreSQL with every
 * flush on ({@link crashFlags} has the flags); the result goes to bench/results/crash.json, or is added to what it says
 * (`--more`).
 */
async function crash(
  { more, ...flags }: CrashFlags & { readonly more: boolean },
  onEnd: OnEnd,
): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-crash-'));
  // As root, the server runs as another user, which needs access.
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({ dataDir });
  onEnd(() => server.stop());
  const dataSource = await createDataSource({ url: server.url }).initialize();
  onEnd(() => dataSource.destroy());
  await runMigrations(dataSource);
  const { kills, outageEvery, ...buys } = flags;
  const rounds = Math.ceil(kills / PROCESSES);
  const terms = { rounds, processes: PROCESSES, outageEvery, buys };
  const result = await crashRun({ url: server.url, dataSource, ...terms });
  const report = { runs: [flags], ...result };
  const before = more ? (JSON.parse(await readFile(RESULT, 'utf8')) as CrashReport) : null;
  const text = `${JSON.stringify(before ? sumOf(before, report) : report, null, 2)}\n`;
  await mkdir(dirname(RESULT), { recursive: true });
  await writeFile(RESULT, text);
  process.stdout.write(text);
  const { lost, doubled, holdsLeftOpen, faults } = result;
  return lost + doubled + holdsLeftOpen + faults.length === 0 && provesSomething(result);
}

/** On a slow machine processes may be killed before they have settled anything. Nothing is lost then, and nothing proven. */
function provesSomething({ acknowledged, priced }: CrashResult): boolean {
  const counts = [acknowledged.settled, acknowledged.released, ...(priced ? [priced.charges] : [])];
  if (counts.every((count) => count > 0)) return true;
  process.stderr.write('No call was settled, released or priced: the run proves nothing.\n');
  return false;
}

const flags = crashFlags();
await longRun(() => Promise.resolve((onEnd) => crash(flags, onEnd)));

/** A report of before may lack what later ones say. */
function sumOf(before: CrashReport, now: CrashReport): CrashReport {
  const { audits = 0, faults = [], runs = [] } = before as Partial<CrashReport>;
  const priced = sumOfCounts(before.priced, now.priced);
  return {
    runs: [...runs, ...now.runs],
    kills: before.kills + now.kills,
    outages: before.outages + now.outages,
    acknowledged: added(before.acknowledged, now.acknowledged),
    owedPaid: before.owedPaid + now.owedPaid,
    lost: before.lost + now.lost,
    doubled: before.doubled + now.doubled,
    audit: before.audit === 'exact' ? now.audit : 'broken',
    audits: audits + now.audits,
    ...(priced && { priced }),
    faults: [...faults, ...now.faults],
    orphanedHolds: before.orphanedHolds + now.orphanedHolds,
    sweptAfterMs: Math.max(before.sweptAfterMs, now.sweptAfterMs),
    holdsLeftOpen: before.holdsLeftOpen + now.holdsLeftOpen,
  };
}

function sumOfCounts(one?: PricedCounts, other?: PricedCounts): PricedCounts | undefined {
  return one && other ? added(one, other) : (one ?? other);
}

function added<Counts extends { readonly [K in keyof Counts]: number }>(
  one: Counts,
  other: Counts,
): Counts {
  const names = Object.keys(other) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Counts;
}
