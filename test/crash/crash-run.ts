import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DataSource } from 'typeorm';
import { auditLedger } from '../../src/billing/audit.js';
import { GatewayProcess } from '../../src/executions/gateway-process.js';
import { LedgerService } from '../../src/billing/ledger.service.js';
import { SystemClock } from '../../src/common/time/clock.js';
import { HoldSweeper } from '../../src/executions/hold-sweeper.js';
import type { Acknowledgement } from './acknowledgement.js';

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const ACCOUNTS = 3;
const FUNDS_MICRO_USD = 20_000n;
const MAX_LIFE_MS = 400;
const SWEEP_INTERVAL_MS = 1_000;
const SWEEP_LIMIT_MS = 60_000;

/** How often to kill: `rounds` times `processes` at once, all on the same accounts. */
export interface CrashPlan {
  readonly url: string;
  readonly dataSource: DataSource;
  readonly rounds: number;
  readonly processes: number;
}

/** What the kills left behind. */
export interface CrashResult {
  readonly kills: number;
  readonly acknowledged: Record<Acknowledgement['kind'], number>;
  /** Acknowledged outcomes the database does not have as they were told. */
  readonly lost: number;
  /** Holds charged, or credits entered, more than once. */
  readonly doubled: number;
  readonly audit: 'exact' | 'broken';
  /** Open holds of killed processes, the time until the sweeper had released them all, and those it had not after a minute. */
  readonly orphanedHolds: number;
  readonly sweptAfterMs: number;
  readonly holdsLeftOpen: number;
}

/** Kills loaded processes with SIGKILL at random moments and compares what they had acknowledged with the database. */
export async function crashRun(plan: CrashPlan): Promise<CrashResult> {
  const { dataSource } = plan;
  const ledger = new LedgerService(dataSource, new SystemClock());
  const accountIds = await Promise.all(
    Array.from({ length: ACCOUNTS }, async (_, n) => {
      const { id } = await ledger.createAccount(`crash ${n}`);
      await ledger.credit({
        accountId: id,
        amountMicroUsd: FUNDS_MICRO_USD,
        idempotencyKey: 'fund',
        reference: null,
      });
      return id;
    }),
  );
  const journal: Acknowledgement[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const kills = Array.from({ length: plan.processes }, () =>
      killOne(plan.url, accountIds, journal),
    );
    await Promise.all(kills);
  }
  const orphanedHolds = await openHolds(dataSource);
  const sweptAfterMs = await sweep(dataSource);
  const count = (kind: Acknowledgement['kind']): number =>
    journal.filter((line) => line.kind === kind).length;
  return {
    kills: plan.rounds * plan.processes,
    acknowledged: {
      held: count('held'),
      settled: count('settled'),
      released: count('released'),
      credited: count('credited'),
    },
    lost: await lost(dataSource, journal),
    doubled: await doubled(dataSource),
    audit: (await auditLedger(dataSource)).ok ? 'exact' : 'broken',
    orphanedHolds,
    sweptAfterMs: Math.round(sweptAfterMs),
    holdsLeftOpen: await openHolds(dataSource),
  };
}

/** Starts a process, lets it work for a random while and kills it; its last line may be cut and then counts for nothing. */
async function killOne(
  url: string,
  accountIds: string[],
  journal: Acknowledgement[],
): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--import', '@swc-node/register/esm-register', CHILD, url, ...accountIds],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const closed = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready') setTimeout(() => child.kill('SIGKILL'), randomInt(MAX_LIFE_MS));
    else if (line.endsWith('}')) journal.push(JSON.parse(line) as Acknowledgement);
  }
  const [, signal] = (await closed) as [number | null, string | null];
  if (signal !== 'SIGKILL') throw new Error('the process ended before it was killed');
}

/** Milliseconds until no hold is open any more, a minute at most. */
async function sweep(dataSource: DataSource): Promise<number> {
  const sweeper = new HoldSweeper(dataSource, new GatewayProcess(dataSource), {
    intervalMs: SWEEP_INTERVAL_MS,
  });
  const started = performance.now();
  const elapsed = (): number => performance.now() - started;
  while ((await openHolds(dataSource)) > 0 && elapsed() < SWEEP_LIMIT_MS) {
    await sweeper.tick();
    await sleep(SWEEP_INTERVAL_MS / 4);
  }
  return elapsed();
}

async function openHolds(dataSource: DataSource): Promise<number> {
  return countOf(dataSource, `SELECT count(*) FROM hold WHERE state = 'open'`);
}

async function lost(dataSource: DataSource, journal: readonly Acknowledgement[]): Promise<number> {
  return countOf(
    dataSource,
    `SELECT count(*) FROM jsonb_to_recordset($1) AS told (kind text, "accountId" uuid, id uuid, amount bigint)
       LEFT JOIN hold h ON h.account_id = told."accountId" AND h.id = told.id
       LEFT JOIN execution x ON x.account_id = told."accountId" AND x.id = told.id
       LEFT JOIN ledger_entry charge ON charge.account_id = told."accountId" AND charge.hold_id = told.id
       LEFT JOIN ledger_entry credit ON credit.account_id = told."accountId" AND credit.idempotency_key = told.id::text
      WHERE NOT coalesce(CASE told.kind
        WHEN 'held' THEN h.amount = told.amount AND x.id IS NOT NULL
        WHEN 'released' THEN h.state = 'released' AND x.status = 'failed' AND charge.amount IS NULL
        WHEN 'settled' THEN h.settled_amount = told.amount AND x.status = 'succeeded' AND x.charged = told.amount
             AND coalesce(charge.amount, 0) = -told.amount
        WHEN 'credited' THEN credit.amount = told.amount END, false)`,
    [JSON.stringify(journal)],
  );
}

async function doubled(dataSource: DataSource): Promise<number> {
  return countOf(
    dataSource,
    `SELECT count(*) FROM (SELECT 1 FROM ledger_entry GROUP BY account_id, hold_id, idempotency_key HAVING count(*) > 1) twice`,
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
