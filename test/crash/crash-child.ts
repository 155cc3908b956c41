import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayProcess } from '../../src/executions/gateway-process.js';
import { LedgerService } from '../../src/billing/ledger.service.js';
import { timeOrderedUuid } from '../../src/common/ids/time-ordered-uuid.js';
import { SystemClock } from '../../src/common/time/clock.js';
import { createDataSource } from '../../src/database/data-source.js';
import { ExecutionLedger } from '../../src/executions/execution-ledger.js';
import { Metrics } from '../../src/observability/metrics.js';
import { HoldSweeper } from '../../src/executions/hold-sweeper.js';
import type { Acknowledgement } from './acknowledgement.js';

const CALLERS = 24;
const MAX_PRICE = 200;
const MAX_PROVIDER_MS = 10;
const CREDIT_ONE_IN = 8;
const SWEEP_INTERVAL_MS = 1_000;

/**
 * A gateway process under load, to be killed: moves money of the given accounts at random through the real services and
 * writes each acknowledged outcome to stdout as one JSON line. Arguments: database URL, account ids.
 */
const [url = '', ...accountIds] = process.argv.slice(2);
const dataSource = await createDataSource({ url, poolSize: 6 }).initialize();
const clock = new SystemClock();
const gatewayProcess = new GatewayProcess(dataSource);
const ledger = new LedgerService(dataSource, clock);
const executions = new ExecutionLedger(dataSource, gatewayProcess, clock, new Metrics());
await new HoldSweeper(dataSource, gatewayProcess, {
  intervalMs: SWEEP_INTERVAL_MS,
}).onModuleInit();
process.stdout.write('ready\n');
await Promise.all(Array.from({ length: CALLERS }, callForever));

// Writing to a pipe is synchronous: the line is out before the next step starts.
function acknowledge(line: Acknowledgement): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function callForever(): Promise<never> {
  for (;;) {
    const accountId = accountIds[randomInt(accountIds.length)] ?? '';
    if (randomInt(CREDIT_ONE_IN) === 0) await credit(accountId);
    else await call(accountId);
  }
}

async function credit(accountId: string): Promise<void> {
  const key = randomUUID();
  const amount = randomInt(1, MAX_PRICE * 3);
  const request = {
    accountId,
    amountMicroUsd: BigInt(amount),
    idempotencyKey: key,
    reference: null,
  };
  await ledger.credit(request);
  acknowledge({ kind: 'credited', accountId, id: key, amount });
}

async function call(accountId: string): Promise<void> {
  const executionId = timeOrderedUuid(clock.nowMs());
  const amount = randomInt(1, MAX_PRICE);
  const outcome = await executions.begin({
    executionId,
    accountId,
    apiKeyId: null,
    model: 'aud-v4',
    endpoint: '/v1/audio/speech',
    amountMicroUsd: BigInt(amount),
    expiresAt: new Date(clock.nowMs() + 600_000),
  });
  if (outcome === 'insufficient') return;
  acknowledge({ kind: 'held', accountId, id: executionId, amount });
  await sleep(randomInt(MAX_PROVIDER_MS));
  const end = { executionId, accountId, provider: 'sandbox', providerRequestId: null };
  if (randomInt(4) === 0) {
    await executions.fail({ ...end, errorCode: 'provider_timeout' });
    acknowledge({ kind: 'released', accountId, id: executionId, amount });
    return;
  }
  const charge = randomInt(amount + 1);
  await executions.succeed({ ...end, chargedMicroUsd: BigInt(charge) });
  acknowledge({ kind: 'settled', accountId, id: executionId, amount: charge });
}
