import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerService } from '../../src/billing/ledger.service.js';
import { Clock } from '../../src/common/time/clock.js';
import { createDataSource } from '../../src/database/data-source.js';
import { FAILURE, ledgerOf, startOf, successOf } from '../support/test-ledger.js';
import type { Acknowledgement } from './acknowledgement.js';

const CALLERS = 24;
const MAX_PRICE = 200;
const MAX_PROVIDER_MS = 10;
const CREDIT_ONE_IN = 8;

/** Its clock runs this much faster, so that short outages exceed the patience of calls. */
const HASTE = 20;
const LEASE_MS = 3_000;

class HastyClock extends Clock {
  readonly #startedMs = Date.now();
  nowMs(): number {
    return Math.round(this.#startedMs + (Date.now() - this.#startedMs) * HASTE);
  }
}

/**
 * A gateway process under load that will be killed. It moves money of the given accounts at random through the real
 * services and writes each acknowledged outcome to stdout as one JSON line. Arguments: database URL, data directory,
 * account ids.
 */
const [url = '', dataDir = '', ...accountIds] = process.argv.slice(2);
const dataSource = await createDataSource({ url, poolSize: 6 }).initialize();
const ledger = new LedgerService(dataSource);
const { process: lease, executions } = ledgerOf(dataSource, {
  clock: new HastyClock(),
  dataDir,
  leaseMs: LEASE_MS,
});
await lease.onModuleInit();
process.stdout.write('ready\n');
await Promise.all(Array.from({ length: CALLERS }, callForever));

// Writing to a pipe is synchronous, so the line is written before the next step starts.
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
  const isDone = await ledger.credit(request).then(
    () => true,
    () => false,
  );
  if (isDone) acknowledge({ kind: 'credited', accountId, id: key, amount });
}

async function call(accountId: string): Promise<void> {
  const amount = randomInt(1, MAX_PRICE);
  const start = startOf(accountId, BigInt(amount));
  const line = { accountId, id: start.executionId };
  try {
    if ((await executions.begin(start)) === 'insufficient') return;
    acknowledge({ kind: 'held', ...line, amount });
    await sleep(randomInt(MAX_PROVIDER_MS));
    if (randomInt(4) === 0) {
      await executions.fail(start, FAILURE);
      acknowledge({ kind: 'released', ...line, amount });
      return;
    }
    const charge = randomInt(amount + 1);
    await executions.succeed(start, successOf(BigInt(charge)));
    acknowledge({ kind: 'settled', ...line, amount: charge });
  } catch {
    acknowledge({ kind: 'refused', ...line, amount });
  }
}
