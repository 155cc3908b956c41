import { performance } from 'node:perf_hooks';
import type { DataSource } from 'typeorm';
import type { ExecutionStart } from '../../src/billing/calls/execution-commands.js';
import { MAX_MICRO_USD } from '../../src/common/money/micro-usd.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { ledgerOf, startOf, successOf } from '../../test/support/test-ledger.js';

/** Callers at once. */
export const CALLERS = 64;
const SECONDS = 5;
const WARM_UP_SECONDS = 2;
const PRICE = 120n;

interface Load {
  readonly pairs: number;
  readonly pairsPerSecond: number;
  readonly holdP50Ms: number;
  readonly holdP99Ms: number;
}

/** A hold and its settlement; reports how long the hold took. */
export type Pair = (held: (ms: number) => void) => Promise<void>;

/** Runs the pair with all callers at once; each starts the next pair when one ends. */
export async function measure(
  pair: Pair,
  seconds = SECONDS,
  warmUpSeconds = WARM_UP_SECONDS,
): Promise<Load> {
  await drive(pair, warmUpSeconds);
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

/** What each hold of a pair also has. */
type Terms = (call: number) => Pick<ExecutionStart, 'fit' | 'run'>;

/** Holds that take what fits, each of a run with a limit; the runs take turns. */
export const fittedWithRuns =
  (runs: number): Terms =>
  (call) => ({
    fit: { floorMicroUsd: PRICE / 2n, promptMicroUsd: 1n },
    run: { id: `run ${call % runs}`, limitMicroUsd: MAX_MICRO_USD },
  });

/** A pair as the gateway makes it; the accounts take turns. */
export async function groupCommitPair(
  dataSource: DataSource,
  accountIds: string[],
  terms: Terms = () => ({}),
): Promise<Pair> {
  const { process, executions } = ledgerOf(dataSource);
  await process.heartbeat();
  let next = 0;
  return async (held) => {
    const call = next++;
    const accountId = accountIds[call % accountIds.length] ?? '';
    const start = { ...startOf(accountId, PRICE), ...terms(call) };
    const started = performance.now();
    const { outcome } = await executions.begin(start);
    held(performance.now() - started);
    if (outcome !== 'held') throw new Error(outcome);
    await executions.succeed(start, successOf(PRICE));
  };
}

/** As a gateway without group commit does it: one transaction to hold, another to settle. */
export function interactivePair(dataSource: DataSource, accountId: string): Pair {
  const lock = 'SELECT posted, held FROM account WHERE id = $1 FOR UPDATE';
  return async (held) => {
    const holdId = uuidV7(Date.now());
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
