import { mkdtemp, rm } from 'node:fs/promises';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { DataSource } from 'typeorm';
import { LedgerService } from '../src/billing/ledger.service.js';
import { auditLedger } from '../src/billing/audit.js';
import { timeOrderedUuid } from '../src/common/ids/time-ordered-uuid.js';
import { SystemClock } from '../src/common/time/clock.js';
import { createDataSource } from '../src/database/data-source.js';
import { EmbeddedPostgres } from '../src/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/database/run-migrations.js';
import { ledgerOf, startOf, successOf } from '../test/support/test-ledger.js';

const CALLERS = 64;
const SECONDS = 5;
const WARM_UP_SECONDS = 2;
const PRICE = 120n;
const TARGETS = { ratio: 10, pairs_per_second: 3_000, hold_p99_ms: 25 };

/** What a benchmark measured against what it must reach. */
export interface BenchResult {
  readonly name: string;
  readonly figures: Record<string, number | string>;
  readonly targets: Record<string, number | string>;
  readonly passed: boolean;
}

interface Load {
  readonly pairsPerSecond: number;
  readonly holdP50Ms: number;
  readonly holdP99Ms: number;
}

/**
 * Hold + settle pairs per second of 64 callers on one hot account: group commit against one interactive transaction per
 * step, on the same embedded PostgreSQL with every flush on.
 */
export async function run(): Promise<BenchResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({ dataDir });
  const dataSource = await createDataSource({ url: server.url }).initialize();
  try {
    await runMigrations(dataSource);
    const ledger = new LedgerService(dataSource, new SystemClock());
    const grouped = await measure(await groupCommitPair(dataSource, [await fundedAccount(ledger)]));
    const plain = await measure(interactivePair(dataSource, await fundedAccount(ledger)));
    const audit = await auditLedger(dataSource);
    const ratio = grouped.pairsPerSecond / plain.pairsPerSecond;
    return {
      name: 'ledger',
      figures: {
        callers: CALLERS,
        ratio: round(ratio),
        group_commit_pairs_per_second: Math.round(grouped.pairsPerSecond),
        group_commit_hold_p50_ms: round(grouped.holdP50Ms),
        group_commit_hold_p99_ms: round(grouped.holdP99Ms),
        interactive_pairs_per_second: Math.round(plain.pairsPerSecond),
        interactive_hold_p50_ms: round(plain.holdP50Ms),
        interactive_hold_p99_ms: round(plain.holdP99Ms),
        audit: audit.ok ? 'exact' : 'broken',
      },
      targets: TARGETS,
      passed:
        audit.ok &&
        ratio >= TARGETS.ratio &&
        grouped.pairsPerSecond >= TARGETS.pairs_per_second &&
        grouped.holdP99Ms <= TARGETS.hold_p99_ms,
    };
  } finally {
    await dataSource.destroy();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

type Pair = (held: (ms: number) => void) => Promise<void>;

async function measure(pair: Pair): Promise<Load> {
  await drive(pair, WARM_UP_SECONDS);
  const holds = await drive(pair, SECONDS);
  const sorted = holds.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { pairsPerSecond: holds.length / SECONDS, holdP50Ms: at(0.5), holdP99Ms: at(0.99) };
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

const round = (value: number): number => Math.round(value * 100) / 100;
