import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DataSource } from 'typeorm';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import { fatalLinesOf, refuseFatal } from '../support/fatal-lines.js';
import { freshFolder, fundedAccount, ledgerOf } from '../support/test-ledger.js';
import type { Acknowledgement } from './acknowledgement.js';
import { CrashAudits, CrashBooks, type PricedCounts } from './crash-books.js';
import type { BuyOptions } from './paid-harness.js';

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const ACCOUNTS = 3;
const FUNDS_MICRO_USD = 20_000n;
const MAX_LIFE_MS = 400;
/** A round with an outage lives longer, so that calls are refused. */
const MAX_LIFE_IN_OUTAGE_MS = 4_000;
const SWEEP_INTERVAL_MS = 250;
const LEASE_MS = 3_000;
const MAX_OUTAGE_MS = 2_500;
const LOOK_MS = 20;
const SWEEP_LIMIT_MS = 60_000;
const LINES_PER_LOOK = 2_000;
/** Of the log of each process this much is kept: its last lines, and the fatal ones. */
const MAX_LINES_KEPT = 100;
const MAX_FATAL_KEPT = 20;

/**
 * How often to kill: `rounds` times `processes` at once, all with the same accounts, with an outage in one of
 * `outageEvery` rounds.
 */
export interface CrashPlan {
  readonly url: string;
  readonly dataSource: DataSource;
  readonly rounds: number;
  readonly processes: number;
  readonly outageEvery: number;
  /** Default: plain calls. */
  readonly buys?: BuyOptions;
}

/** The state after the kills. */
export interface CrashResult {
  readonly kills: number;
  readonly outages: number;
  readonly acknowledged: Record<Acknowledgement['kind'], number>;
  /** Calls that killed processes owed on disk, and that another process cancelled. */
  readonly owedPaid: number;
  /** Acknowledged outcomes that the database does not have in the same way. */
  readonly lost: number;
  /** Holds charged, or credits entered, more than once. */
  readonly doubled: number;
  /** Of every full audit: one after each kill, while the other processes work on, and one at the end. */
  readonly audit: 'exact' | 'broken';
  readonly audits: number;
  /** With priced calls: what was compared with plain integers. */
  readonly priced?: PricedCounts;
  /** Findings of audits, and what differs from plain integers: the first of each. */
  readonly faults: readonly string[];
  /**
   * Open holds of killed processes, the time until the sweeper had released them all, and the number after a minute.
   */
  readonly orphanedHolds: number;
  readonly sweptAfterMs: number;
  readonly holdsLeftOpen: number;
}

/**
 * Kills loaded processes with SIGKILL at random moments and compares what they had acknowledged with the database. Throws if
 * the log of one had a fatal line.
 */
export async function crashRun(plan: CrashPlan): Promise<CrashResult> {
  const { dataSource } = plan;
  const accountIds = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, n) =>
      fundedAccount(dataSource, FUNDS_MICRO_USD, `crash ${n}`),
    ),
  );
  const books = plan.buys?.priced ? await CrashBooks.open(dataSource, accountIds) : undefined;
  const audits = new CrashAudits(dataSource);
  const said: Said = { journal: [], fatal: [] };
  const { journal, fatal } = said;
  const dataDir = freshFolder();
  const proxy = await startDatabaseProxy(plan.url);
  const argumentsOfChild = [
    proxy.through(plan.url),
    dataDir,
    JSON.stringify({ ...plan.buys, provider: books?.provider.url }),
    ...accountIds,
  ];
  const outages = await killInRounds(plan, { argumentsOfChild, said, proxy, audits, books });
  await proxy.stop();
  await books?.provider.stop();
  refuseFatal(fatal);
  const orphanedHolds = await openHolds(dataSource);
  const { sweptAfterMs, owedPaid } = await sweep(dataSource, dataDir);
  await books?.compareKinds();
  const priced = await books?.compareCharges();
  await audits.run();
  return {
    kills: plan.rounds * plan.processes,
    outages,
    owedPaid,
    acknowledged: countsOf(journal),
    lost: await lost(dataSource, journal),
    doubled: await doubled(dataSource),
    audit: audits.findings.length === 0 ? 'exact' : 'broken',
    audits: audits.count,
    ...(priced && { priced }),
    faults: [...audits.findings, ...(books?.faults ?? [])],
    orphanedHolds,
    sweptAfterMs: Math.round(sweptAfterMs),
    holdsLeftOpen: await openHolds(dataSource),
  };
}

/** What a run works with. */
interface Crash {
  readonly argumentsOfChild: readonly string[];
  readonly said: Said;
  readonly proxy: DatabaseProxy;
  readonly audits: CrashAudits;
  readonly books: CrashBooks | undefined;
}

/** Kills one round after the other; returns how many outages there were. */
async function killInRounds(plan: CrashPlan, crash: Crash): Promise<number> {
  const { said, proxy, audits, books } = crash;
  let outages = 0;
  for (let round = 0; round < plan.rounds; round += 1) {
    const hasOutage = round % plan.outageEvery === plan.outageEvery - 1;
    const lifeMs = hasOutage ? MAX_LIFE_IN_OUTAGE_MS : MAX_LIFE_MS;
    const end = new AbortController();
    const kills = Promise.all(
      Array.from({ length: plan.processes }, async (_, n) => {
        const since = n % 2 === 0 ? 'ready' : 'settled';
        await killOne(crash.argumentsOfChild, { lifeMs, since }, said);
        await Promise.all([audits.run(), books?.prices.change()]);
      }),
    ).finally(() => {
      end.abort();
    });
    if (hasOutage) {
      // In turns while the processes start and once they are under way.
      const told = said.journal.length;
      const isTime = () => (outages % 2 === 0 ? said.journal.length > told : proxy.connections > 0);
      while (!end.signal.aborted && !isTime()) await sleep(LOOK_MS);
      await outage(proxy);
      outages += 1;
    }
    await kills;
    await books?.compareKinds();
  }
  return outages;
}

function countsOf(journal: readonly Acknowledgement[]): CrashResult['acknowledged'] {
  const counts = { held: 0, settled: 0, released: 0, credited: 0, refused: 0, left: 0 };
  for (const { kind } of journal) counts[kind] += 1;
  return counts;
}

/** The longest time from an event until the kill: that it takes calls, or that it settled the first, however slow the machine is. */
interface Life {
  readonly lifeMs: number;
  readonly since: 'ready' | 'settled';
}

/** What the processes said. */
interface Said {
  readonly journal: Acknowledgement[];
  /** Lines of level fatal in their logs. */
  readonly fatal: string[];
}

/**
 * Starts a process, lets it work for a random time and kills it. Its last line may be incomplete and then does not
 * count.
 */
async function killOne(
  argumentsOfChild: readonly string[],
  { lifeMs, since }: Life,
  { journal, fatal }: Said,
): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--import', '@swc-node/register/esm-register', CHILD, ...argumentsOfChild],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const closed = once(child, 'close').finally(() => process.off('exit', end));
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (log.push(line) > MAX_LINES_KEPT) log.shift();
    if (fatal.length < MAX_FATAL_KEPT) fatal.push(...fatalLinesOf(line));
  });
  let kill: NodeJS.Timeout | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const told = line.endsWith('}') ? (JSON.parse(line) as Acknowledgement) : undefined;
    if (told) journal.push(told);
    if (since === (told?.kind ?? line)) kill ??= setTimeout(end, randomInt(lifeMs));
  }
  clearTimeout(kill);
  const [, signal] = (await closed) as [number | null, string | null];
  if (signal === 'SIGKILL') return;
  throw new Error(`the process ended before it was killed:\n${log.join('\n')}`);
}

/** Cuts the processes off from the database for a while. */
async function outage(proxy: DatabaseProxy): Promise<void> {
  await sleep(randomInt(MAX_LIFE_MS));
  await proxy.cut();
  await sleep(randomInt(MAX_OUTAGE_MS));
  await proxy.mend();
}

/** Milliseconds until no hold is open any more, a minute at most, and the number of owed calls that were cancelled. */
async function sweep(
  dataSource: DataSource,
  dataDir: string,
): Promise<{ sweptAfterMs: number; owedPaid: number }> {
  const { process: lease, owed, sweeper } = ledgerOf(dataSource, { leaseMs: LEASE_MS, dataDir });
  await lease.onModuleInit();
  const started = performance.now();
  const elapsed = (): number => performance.now() - started;
  let owedPaid = 0;
  while ((await openHolds(dataSource)) > 0 && elapsed() < SWEEP_LIMIT_MS) {
    owedPaid += await owed.recoverFromDeadProcesses();
    await sweeper.tick();
    await sleep(SWEEP_INTERVAL_MS);
  }
  const sweptAfterMs = elapsed();
  owedPaid += await owed.recoverFromDeadProcesses();
  await lease.beforeApplicationShutdown();
  return { sweptAfterMs, owedPaid };
}

async function openHolds(dataSource: DataSource): Promise<number> {
  return countOf(dataSource, `SELECT count(*) FROM execution WHERE status = 'running'`);
}

/** Looked up in slices, because a long run acknowledges more than one statement can handle in its time. */
async function lost(dataSource: DataSource, journal: readonly Acknowledgement[]): Promise<number> {
  let count = 0;
  for (let from = 0; from < journal.length; from += LINES_PER_LOOK) {
    count += await lostOf(dataSource, journal.slice(from, from + LINES_PER_LOOK));
  }
  return count;
}

async function lostOf(dataSource: DataSource, lines: readonly Acknowledgement[]): Promise<number> {
  return countOf(
    dataSource,
    `SELECT count(*) FROM jsonb_to_recordset($1) AS told (kind text, "accountId" uuid, id uuid, amount bigint)
       LEFT JOIN execution x ON x.account_id = told."accountId" AND x.id = told.id
       LEFT JOIN (
         SELECT account_id, hold_id, -sum(amount) AS amount FROM ledger_entry WHERE hold_id IS NOT NULL GROUP BY 1, 2
       ) charge ON charge.account_id = told."accountId" AND charge.hold_id = told.id
       LEFT JOIN ledger_entry credit ON credit.account_id = told."accountId" AND credit.idempotency_key = told.id::text
      WHERE NOT coalesce(CASE told.kind
        WHEN 'held' THEN x.held = told.amount
        WHEN 'released' THEN x.status = 'failed' AND charge.amount IS NULL
        WHEN 'settled' THEN x.status = 'succeeded' AND x.charged = told.amount
             AND coalesce(charge.amount, 0) = told.amount
        WHEN 'refused' THEN x.id IS NULL OR (x.status = 'failed' AND coalesce(charge.amount, 0) = 0)
        WHEN 'left' THEN true
        WHEN 'credited' THEN credit.amount = told.amount END, false)`,
    [JSON.stringify(lines)],
  );
}

async function doubled(dataSource: DataSource): Promise<number> {
  return countOf(
    dataSource,
    `SELECT count(*) FROM (SELECT 1 FROM ledger_entry WHERE kind <> 'expiry' GROUP BY account_id, hold_id, kind, idempotency_key HAVING count(*) > 1) twice`,
  );
}

async function countOf(
  dataSource: DataSource,
  sql: string,
  values: unknown[] = [],
): Promise<number> {
  const [row] = await dataSource.query<{ count: string }[]>(sql, values);
  return Number(row?.count);
}
