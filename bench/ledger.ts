import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { LedgerService } from '../src/billing/ledger.service.js';
import { auditLedger } from '../src/billing/audit.js';
import { timeOrderedUuid } from '../src/common/ids/time-ordered-uuid.js';
import { SystemClock } from '../src/common/time/clock.js';
import { createDataSource } from '../src/database/data-source.js';
import { EmbeddedPostgres } from '../src/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/database/run-migrations.js';
import { ledgerOf, startOf, successOf } from '../test/support/test-ledger.js';
import { type BenchResult, median, round } from './result.js';

const CALLERS = 64;
const SECONDS = 5;
const WARM_UP_SECONDS = 2;
const SNAPSHOT_SECONDS = 60;
const MANY_ACCOUNTS = 3_000;
const PRICE = 120n;
const FLUSHES = 100;
const TARGETS = {
  'one account: pairs per second': '≥ 8000',
  '3,000 accounts: pairs per second': '≥ 4000',
  '3,000 accounts: hold p99 ms': '≤ 25',
  'updates of execution in place': '≥ 95 %',
  'index entries per call': '≤ 5',
  'one account: log bytes per call': '≤ 1024',
  '3,000 accounts: log bytes per call': '≤ 1024',
  'throughput with a 60 s snapshot open': '≥ 0.8',
  audit: 'exact',
};

interface Load {
  readonly pairs: number;
  readonly pairsPerSecond: number;
  readonly holdP50Ms: number;
  readonly holdP99Ms: number;
}

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
    const ledger = new LedgerService(dataSource, new SystemClock());
    const one = await groupCommitPair(dataSource, [await fundedAccount(ledger)]);
    const many = await groupCommitPair(dataSource, await manyAccounts(dataSource));
    const before = await costs(dataSource);
    const hot = await measure(one);
    const after = await costs(dataSource);
    const wide = await measure(many);
    const last = await costs(dataSource);
    const plain = await measure(interactivePair(dataSource, await fundedAccount(ledger)));
    const snapshot = await beside(server.url, () => measure(many, SNAPSHOT_SECONDS));
    const audit = await auditLedger(dataSource);
    const inPlace = (last.inPlace - before.inPlace) / (last.updates - before.updates);
    const logBytes = logBytesPerCall(before, after);
    const wideLogBytes = logBytesPerCall(after, last);
    const indexEntries = await indexEntriesPerCall(dataSource, 1 - inPlace);
    const slowed = snapshot.pairsPerSecond / wide.pairsPerSecond;
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
        'updates of execution in place': `${round(100 * inPlace)} %`,
        'index entries per call': round(indexEntries, 1),
        'one account: log bytes per call': Math.round(logBytes),
        '3,000 accounts: log bytes per call': Math.round(wideLogBytes),
        'throughput with a 60 s snapshot open': round(slowed),
        audit: audit.ok ? 'exact' : 'broken',
      },
      targets: TARGETS,
      passed:
        audit.ok &&
        hot.pairsPerSecond >= 8_000 &&
        wide.pairsPerSecond >= 4_000 &&
        wide.holdP99Ms <= 25 &&
        inPlace >= 0.95 &&
        round(indexEntries, 1) <= 5 &&
        logBytes <= 1_024 &&
        wideLogBytes <= 1_024 &&
        slowed >= 0.8,
    };
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

function logBytesPerCall(before: Costs, after: Costs): number {
  return (after.logBytes - before.logBytes) / (after.calls - before.calls);
}

interface Costs {
  readonly calls: number;
  readonly updates: number;
  readonly inPlace: number;
  readonly logBytes: number;
}

async function costs(dataSource: DataSource): Promise<Costs> {
  await dataSource.query('SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()');
  // Each session reports what it did within a second of its last statement.
  await sleep(1_500);
  const [row] = await dataSource.query<Record<keyof Costs, string>[]>(
    `SELECT n_tup_ins AS calls, n_tup_upd AS updates, n_tup_hot_upd AS "inPlace",
            pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS "logBytes"
       FROM pg_stat_user_tables WHERE relname = 'execution'`,
  );
  return {
    calls: Number(row?.calls),
    updates: Number(row?.updates),
    inPlace: Number(row?.inPlace),
    logBytes: Number(row?.logBytes),
  };
}

/** Entries that a call writes into indexes: one per index that holds its rows, and once more for a row that moves. */
async function indexEntriesPerCall(dataSource: DataSource, moved: number): Promise<number> {
  const [row] = await dataSource.query<{ execution: string; entry: string }[]>(
    `SELECT count(*) FILTER (WHERE c.relname = 'execution' AND pg_get_expr(i.indpred, i.indrelid) IS NULL) AS execution,
            count(*) FILTER (WHERE c.relname = 'ledger_entry'
              AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) LIKE '%charge%')) AS entry
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam AND a.amname = 'btree'`,
  );
  return Number(row?.execution) * (1 + moved) + Number(row?.entry);
}

/** What `work` answers while another session holds a snapshot open, as a dump does. */
async function beside<T>(url: string, work: () => Promise<T>): Promise<T> {
  const dump = new pg.Client({ connectionString: url });
  await dump.connect();
  await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM account');
  try {
    return await work();
  } finally {
    await dump.end();
  }
}

type Pair = (held: (ms: number) => void) => Promise<void>;

async function measure(pair: Pair, seconds = SECONDS): Promise<Load> {
  await drive(pair, WARM_UP_SECONDS);
  const holds = await drive(pair, seconds);
  const sorted = holds.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return {
    pairs: holds.length,
    pairsPerSecond: holds.length / seconds,
    holdP50Ms: at(0.5),
    holdP99Ms: at(0.99),
  };
}

async function drive(pair: Pair, seconds: number): Promise<number[]> {
  const holds: number[] = [];
  const end = performance.now() + seconds * 1000;
  const caller = async (): Promise<void> => {
    while (performance.now() < end) await pair((ms) => holds.push(ms));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return holds;
}

async function groupCommitPair(dataSource: DataSource, accountIds: string[]): Promise<Pair> {
  const { process, executions } = ledgerOf(dataSource);
  await process.beat();
  let next = 0;
  return async (held) => {
    const start = startOf(accountIds[next++ % accountIds.length] ?? '', PRICE);
    const started = performance.now();
    const outcome = await executions.begin(start);
    held(performance.now() - started);
    if (outcome !== 'held') throw new Error(outcome);
    await executions.succeed(start, successOf(PRICE));
  };
}

/** What a gateway without group commit does: a transaction to hold, another to settle. */
function interactivePair(dataSource: DataSource, accountId: string): Pair {
  const lock = 'SELECT posted, held FROM account WHERE id = $1 FOR UPDATE';
  return async (held) => {
    const holdId = timeOrderedUuid(Date.now());
    const started = performance.now();
    await dataSource.transaction(async (manager) => {
      const [row] = await manager.query<{ posted: string; held: string }[]>(lock, [accountId]);
      if (BigInt(row?.posted ?? 0) - BigInt(row?.held ?? 0) < PRICE)
        throw new Error('insufficient');
      await manager.query('UPDATE account SET held = held + $2 WHERE id = $1', [accountId, PRICE]);
      await manager.query(
        `INSERT INTO hold (account_id, id, amount, owner) VALUES ($1, $2, $3, 'bench')`,
        [accountId, holdId, PRICE],
      );
    });
    held(performance.now() - started);
    await dataSource.transaction(async (manager) => {
      const [row] = await manager.query<{ posted: string }[]>(lock, [accountId]);
      const balanceAfter = BigInt(row?.posted ?? 0) - PRICE;
      await manager.query(
        `UPDATE hold SET state = 'settled', settled_amount = amount, resolved_at = now() WHERE account_id = $1 AND id = $2`,
        [accountId, holdId],
      );
      await manager.query(
        'UPDATE account SET held = held - $2, posted = posted - $2 WHERE id = $1',
        [accountId, PRICE],
      );
      await manager.query(
        `INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after) VALUES ($1, $2, 'charge', $3, $4)`,
        [accountId, holdId, -PRICE, balanceAfter],
      );
    });
  };
}

async function manyAccounts(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>(
    `INSERT INTO account (id, name, posted)
     SELECT gen_random_uuid(), 'bench', 1000000000000 FROM generate_series(1, $1) RETURNING id`,
    [MANY_ACCOUNTS],
  );
  const ids = rows.map(({ id }) => id);
  await dataSource.query(
    `INSERT INTO ledger_entry (account_id, kind, amount, balance_after)
     SELECT id, 'credit', 1000000000000, 1000000000000 FROM unnest($1::uuid[]) id`,
    [ids],
  );
  return ids;
}

async function fundedAccount(ledger: LedgerService): Promise<string> {
  const { id } = await ledger.createAccount('bench');
  await ledger.credit({
    accountId: id,
    amountMicroUsd: 1_000_000_000_000n,
    idempotencyKey: 'fund',
    reference: null,
  });
  return id;
}
