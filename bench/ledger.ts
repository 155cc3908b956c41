import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { auditLedger } from '../src/billing/audit/audit.js';
import { createDataSource } from '../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/platform/database/run-migrations.js';
import { fundedAccount } from '../test/support/test-ledger.js';
import { costs, indexEntriesPerCall, logBytesPerCall } from './ledger-load/database-costs.js';
import {
  CALLERS,
  fittedWithRuns,
  groupCommitPair,
  interactivePair,
  measure,
  type Pair,
} from './ledger-load/hold-and-settle.js';
import { type BenchResult, median, round } from './result.js';

const SNAPSHOT_SECONDS = 60;
const MANY_ACCOUNTS = 3_000;
const FUNDS_MICRO_USD = 1_000_000_000_000n;
const FLUSHES = 100;
const FITTED_ROUNDS = 120;
const FITTED_SECONDS = 0.25;
const FITTED_WARM_UP_SECONDS = 0.05;
const MANY_RUNS = 16;
const FITTED = 'one account: time of a fitted hold against plain';
const FITTED_OF_ONE_RUN = `${FITTED}, one run`;
const FITTED_OF_MANY_RUNS = `${FITTED}, ${MANY_RUNS} runs in turns`;
const TARGETS = {
  'one account: pairs per second': '≥ 8000',
  '3,000 accounts: pairs per second': '≥ 4000',
  '3,000 accounts: hold p99 ms': '≤ 25',
  [FITTED_OF_ONE_RUN]: '≤ 1.10',
  [FITTED_OF_MANY_RUNS]: '≤ 1.10',
  'updates of execution in place': '≥ 95 %',
  'index entries per call': '≤ 5',
  'one account: log bytes per call': '≤ 1024',
  '3,000 accounts: log bytes per call': '≤ 1024',
  'one account: throughput with a 60 s snapshot open': '≥ 0.8',
  '3,000 accounts: throughput with a 60 s snapshot open': '≥ 0.8',
  audit: 'exact',
};

/**
 * Hold + settle pairs per second of 64 callers, on one hot account and on 3,000, against one interactive transaction per
 * step on the same embedded PostgreSQL with every flush on; and what a call costs the database.
 */
export async function run(): Promise<BenchResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  const flushMs = await flushTimeMs(dataDir);
  const server = await EmbeddedPostgres.start({ dataDir });
  const dataSource = await createDataSource({ url: server.url }).initialize();
  try {
    await runMigrations(dataSource);
    const one = await groupCommitPair(dataSource, [
      await fundedAccount(dataSource, FUNDS_MICRO_USD),
    ]);
    const many = await groupCommitPair(dataSource, await newAccounts(dataSource, MANY_ACCOUNTS));
    const before = await costs(dataSource);
    const hot = await measure(one);
    const after = await costs(dataSource);
    const wide = await measure(many);
    const last = await costs(dataSource);
    const plain = await measure(
      interactivePair(dataSource, await fundedAccount(dataSource, FUNDS_MICRO_USD)),
    );
    const fitted = await fittedAgainstPlain(dataSource, 1);
    const fittedOfMany = await fittedAgainstPlain(dataSource, MANY_RUNS);
    const oneBeside = await compareSnapshot(1);
    const manyBeside = await compareSnapshot(MANY_ACCOUNTS);
    const audit = await auditLedger(dataSource);
    const inPlace = (last.inPlace - before.inPlace) / (last.updates - before.updates);
    const logBytes = logBytesPerCall(before, after);
    const wideLogBytes = logBytesPerCall(after, last);
    const indexEntries = await indexEntriesPerCall(dataSource, 1 - inPlace);
    return {
      name: 'ledger',
      figures: {
        callers: CALLERS,
        'a flush of this disk takes ms': round(flushMs),
        'one account: pairs per second': Math.round(hot.pairsPerSecond),
        'one account: hold p50 ms': round(hot.holdP50Ms),
        'one account: hold p99 ms': round(hot.holdP99Ms),
        '3,000 accounts: pairs per second': Math.round(wide.pairsPerSecond),
        '3,000 accounts: hold p50 ms': round(wide.holdP50Ms),
        '3,000 accounts: hold p99 ms': round(wide.holdP99Ms),
        'interactive transactions: pairs per second': Math.round(plain.pairsPerSecond),
        [FITTED_OF_ONE_RUN]: round(fitted),
        [FITTED_OF_MANY_RUNS]: round(fittedOfMany),
        'updates of execution in place': `${round(100 * inPlace)} %`,
        'index entries per call': round(indexEntries, 1),
        'one account: log bytes per call': Math.round(logBytes),
        '3,000 accounts: log bytes per call': Math.round(wideLogBytes),
        'one account for 60 s: pairs per second': Math.round(oneBeside.without),
        'one account: throughput with a 60 s snapshot open': round(oneBeside.ratio),
        '3,000 accounts for 60 s: pairs per second': Math.round(manyBeside.without),
        '3,000 accounts: throughput with a 60 s snapshot open': round(manyBeside.ratio),
        audit: audit.ok ? 'exact' : 'broken',
      },
      targets: TARGETS,
      passed:
        audit.ok &&
        hot.pairsPerSecond >= 8_000 &&
        wide.pairsPerSecond >= 4_000 &&
        wide.holdP99Ms <= 25 &&
        Math.max(fitted, fittedOfMany) <= 1.1 &&
        inPlace >= 0.95 &&
        round(indexEntries, 1) <= 5 &&
        logBytes <= 1_024 &&
        wideLogBytes <= 1_024 &&
        oneBeside.ratio >= 0.8 &&
        manyBeside.ratio >= 0.8,
    };
  } finally {
    await dataSource.destroy();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/**
 * Times of pairs that hold what fits and count in one of so many runs, as multiples of those of plain ones: the median of many short
 * rounds in turns, because the speed of a machine changes from one second to the next by more than the two differ.
 */
async function fittedAgainstPlain(dataSource: DataSource, runs: number): Promise<number> {
  const account = () => fundedAccount(dataSource, FUNDS_MICRO_USD);
  const plain = await groupCommitPair(dataSource, [await account()]);
  const fitted = await groupCommitPair(dataSource, [await account()], fittedWithRuns(runs));
  const ratios: number[] = [];
  const pairsPerSecondOf = async (pair: Pair) =>
    (await measure(pair, FITTED_SECONDS, FITTED_WARM_UP_SECONDS)).pairsPerSecond;
  for (let round = 0; round < FITTED_ROUNDS; round += 1) {
    ratios.push((await pairsPerSecondOf(plain)) / (await pairsPerSecondOf(fitted)));
  }
  return median(ratios);
}

interface Compared {
  /** Pairs per second where no snapshot is open. */
  readonly without: number;
  /** With a snapshot, divided by `without`. */
  readonly ratio: number;
}

/**
 * The throughput without a snapshot, and how much of it is left with one. It falls as tables grow, so each of the two begins
 * with empty tables, on a server of its own.
 */
async function compareSnapshot(accounts: number): Promise<Compared> {
  const without = await ofNewBooks(accounts, (_, pair) => measure(pair, SNAPSHOT_SECONDS));
  const snapshot = await ofNewBooks(accounts, (url, pair) =>
    withSnapshot(url, () => measure(pair, SNAPSHOT_SECONDS)),
  );
  return {
    without: without.pairsPerSecond,
    ratio: snapshot.pairsPerSecond / without.pairsPerSecond,
  };
}

async function ofNewBooks<T>(
  accounts: number,
  work: (url: string, pair: Pair) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({ dataDir });
  const dataSource = await createDataSource({ url: server.url }).initialize();
  try {
    await runMigrations(dataSource);
    const ids = await newAccounts(dataSource, accounts);
    return await work(server.url, await groupCommitPair(dataSource, ids));
  } finally {
    await dataSource.destroy();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A hold or a settlement cannot be answered sooner than one flush, nor can a pair in less than two. */
async function flushTimeMs(folder: string): Promise<number> {
  const file = await open(join(folder, 'flush'), 'w');
  const times: number[] = [];
  for (let index = 0; index < FLUSHES; index += 1) {
    await file.write(Buffer.alloc(8_192));
    const started = performance.now();
    await file.datasync();
    times.push(performance.now() - started);
  }
  await file.close();
  return median(times);
}

/** The result of `work` while another session holds a snapshot open, as a dump does. */
async function withSnapshot<T>(url: string, work: () => Promise<T>): Promise<T> {
  const dump = new pg.Client({ connectionString: url });
  await dump.connect();
  await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM account');
  try {
    return await work();
  } finally {
    await dump.end();
  }
}

async function newAccounts(dataSource: DataSource, count: number): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>(
    `INSERT INTO account (id, name, posted)
     SELECT gen_random_uuid(), 'bench', 1000000000000 FROM generate_series(1, $1) RETURNING id`,
    [count],
  );
  const ids = rows.map(({ id }) => id);
  await dataSource.query(
    `INSERT INTO ledger_entry (account_id, kind, amount, balance_after)
     SELECT id, 'credit', 1000000000000, 1000000000000 FROM unnest($1::uuid[]) id`,
    [ids],
  );
  return ids;
}
