import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { Accounts } from '../../src/billing/accounts/accounts.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { type Clock, SystemClock } from '../../src/common/time/clock.js';
import { ExecutionLedger } from '../../src/billing/calls/execution-ledger.js';
import { ExecutionsService } from '../../src/billing/calls/executions.service.js';
import type { ExecutionStart } from '../../src/billing/calls/execution-commands.js';
import { ProcessLease } from '../../src/billing/recovery/process-lease.js';
import { HoldSweeper } from '../../src/billing/calls/hold-sweeper.js';
import { LostWork } from '../../src/billing/recovery/lost-work.js';
import { Reversals } from '../../src/billing/recovery/reversals.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import type { Scheduler } from '../../src/platform/scheduler/scheduler.js';

/** The parts of the ledger that a process of the gateway has. */
export interface TestLedger {
  readonly process: ProcessLease;
  readonly owed: Reversals;
  readonly executions: ExecutionLedger;
  readonly reads: ExecutionsService;
  readonly sweeper: HoldSweeper;
  readonly lost: LostWork;
  readonly metrics: Metrics;
}

/** How a {@link TestLedger} differs from the usual one. */
export interface TestLedgerOptions {
  readonly leaseMs?: number;
  readonly dataDir?: string;
  readonly clock?: Clock;
}

const LEASE_MS = 60_000;
/** Starts no job: tests call `tick`. */
export const IDLE_TICKER = { start: () => undefined } as unknown as Scheduler;

/** A folder of its own. */
export const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'shim-owed-'));

/** The accounts of a database. */
export const accountsOf = (dataSource: DataSource): Accounts =>
  new Accounts(dataSource, new SystemClock());

/** Id of a new account with this credit. */
export async function fundedAccount(
  dataSource: DataSource,
  amountMicroUsd: bigint,
  name = 'test',
): Promise<string> {
  const { id: accountId } = await accountsOf(dataSource).create(name);
  const credit = { accountId, amountMicroUsd, idempotencyKey: 'fund', reference: null };
  await new LedgerService(dataSource).credit(credit);
  return accountId;
}

/** Posted and held micro-USD of an account. */
export async function balanceOf(
  dataSource: DataSource,
  accountId: string,
): Promise<[bigint, bigint]> {
  const { postedMicroUsd, heldMicroUsd } = await accountsOf(dataSource).get(accountId);
  return [postedMicroUsd, heldMicroUsd];
}

/** The ledger of one more process of the gateway. It renews its lease when a test asks. */
export function ledgerOf(dataSource: DataSource, options: TestLedgerOptions = {}): TestLedger {
  const { leaseMs = LEASE_MS, dataDir = freshFolder(), clock = new SystemClock() } = options;
  const process = new ProcessLease(dataSource, { leaseMs });
  const owed = new Reversals(dataSource, process, IDLE_TICKER, dataDir);
  const metrics = new Metrics();
  const executions = new ExecutionLedger(dataSource, process, owed, clock, metrics);
  const sweep = { sweepMs: LEASE_MS };
  const lost = new LostWork(dataSource, process, metrics, IDLE_TICKER, clock, sweep);
  const interval = { intervalMs: LEASE_MS };
  const sweeper = new HoldSweeper(dataSource, process, owed, IDLE_TICKER, interval);
  const reads = new ExecutionsService(dataSource);
  return { process, owed, executions, reads, sweeper, lost, metrics };
}

/** A call of a speech model that is about to begin. */
export const startOf = (accountId: string, amountMicroUsd: bigint): ExecutionStart => ({
  executionId: uuidV7(Date.now()),
  accountId,
  apiKeyId: null,
  model: 'aud-v4',
  endpoint: '/v1/audio/speech',
  clientRequestId: null,
  amountMicroUsd,
});

/** The end of a call that succeeded. It costs at most what was held. */
export const successOf = (chargedMicroUsd: bigint) => ({
  chargedMicroUsd,
  provider: 'sandbox',
  upstreamModel: 'eleven_v3',
  providerRequestId: 'req_1',
  basis: null,
  firstByteMs: 5,
  durationMs: 9,
});

/** The end of a call that failed. */
export const FAILURE = {
  errorCode: 'provider_timeout',
  provider: 'sandbox',
  providerRequestId: 'req_1',
  durationMs: 9,
};

/** The lease of the process is over, as if it had not beaten for longer. */
export async function endLease(dataSource: DataSource, { process }: Pick<TestLedger, 'process'>) {
  await dataSource.query(
    `UPDATE gateway_process SET lease_until = now() - interval '1 second' WHERE id = $1`,
    [process.id],
  );
}

/** The process has beaten for longer than any lease, so that it may judge others. */
export async function trust(dataSource: DataSource, { process }: Pick<TestLedger, 'process'>) {
  await dataSource.query(
    `UPDATE gateway_process SET unbroken_since = now() - interval '1 hour' WHERE id = $1`,
    [process.id],
  );
}
