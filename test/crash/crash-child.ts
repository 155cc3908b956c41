import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { CallConcurrencyLimit } from '../../src/admission/call-concurrency-limit.js';
import { ProviderConnectionLimit } from '../../src/admission/provider-connection-limit.js';
import type { AdmittedCall } from '../../src/admission/admitted-call.js';
import { type CreditTerms, PAID } from '../../src/billing/credit-terms.js';
import { CreditExpiry } from '../../src/billing/ledger/credit-expiry.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { UncaughtErrorHandler } from '../../src/bootstrap/uncaught-error-handler.js';
import { Clock } from '../../src/common/time/clock.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { waitForDatabase } from '../../src/platform/database/wait-for-database.js';
import { PaidCalls } from '../../src/billing/calls/paid-calls.js';
import { makeLogger, NestLogger } from '../../src/platform/observability/logger.js';
import { SELF_MADE_ROUTER } from '../support/self-made-router.js';
import { IDLE_TICKER, ledgerOf } from '../support/test-ledger.js';
import type { Acknowledgement } from './acknowledgement.js';
import { BOOKS, CRASH_CHILD, MOST_OUTPUT, MOST_PROMPT } from './crash-prices.js';
import { type BuyOptions, type Order, type Receipt, startPaidHarness } from './paid-harness.js';
import type { ChatOrder, PricedDesk } from './priced-desk.js';

const CALLERS = 24;
const MAX_PRICE = 200;
const CREDIT_ONE_IN = 8;
/** Credits that end do so within this time. */
const MAX_CREDIT_LIFE_MS = 4_000;
const EXPIRY_INTERVAL_MS = 100;
/** Names of runs. Some come to their limit. */
const RUNS = 300;
/** One client in four leaves within so many milliseconds: before its hold, at the provider, or during the settlement. */
const LEAVE_ONE_IN = 4;
const MAX_STAY_MS = 25;
const OUTCOMES = new Map<number, 'settled' | 'released' | 'refused'>([
  [200, 'settled'],
  [502, 'released'],
  [503, 'refused'],
]);

/** Its clock runs this much faster, so that short outages exceed the patience of calls. */
const HASTE = 20;
const LEASE_MS = 3_000;
const CALL_DEADLINE_MS = 60_000;

class HastyClock extends Clock {
  readonly #startedMs = Date.now();
  nowMs(): number {
    return Math.round(this.#startedMs + (Date.now() - this.#startedMs) * HASTE);
  }
}

/**
 * A gateway process under load, to be killed: moves money of the given accounts at random through the real services,
 * for clients that stay or leave, and writes each acknowledged outcome to stdout as one JSON line, and its log to stderr, as
 * a gateway writes it. Arguments: database URL, data directory, kinds of calls and the provider's URL as JSON, account ids.
 */
const logger = makeLogger('error', false, { write: (line) => process.stderr.write(line) });
Logger.overrideLogger(new NestLogger(logger));
const [url = '', dataDir = '', kinds = '{}', ...accountIds] = process.argv.slice(2);
const { provider, ...buys } = JSON.parse(kinds) as BuyOptions & { readonly provider?: string };
// As a gateway starts, even in the middle of an outage.
const dataSource = await waitForDatabase(
  () => createDataSource({ url, poolSize: 6, applicationName: CRASH_CHILD }).initialize(),
  () => undefined,
);
const ledger = new LedgerService(dataSource);
const clock = new HastyClock();
const { process: lease, executions } = ledgerOf(dataSource, { clock, dataDir, leaseMs: LEASE_MS });
await lease.onModuleInit();
const unbounded = new CallConcurrencyLimit({ maxParallelCallsPerKey: 0 });
const connections = new ProviderConnectionLimit(
  { nameOf: (provider) => provider },
  { providerMaxConnections: 1_000 },
);
const limits = { callDeadlineMs: CALL_DEADLINE_MS };
const calls = new PaidCalls(executions, SELF_MADE_ROUTER, clock, unbounded, connections, limits);
const desk = provider === undefined ? undefined : await deskOf(provider);
const harness = await startPaidHarness({ calls, desk }, acknowledge);
const onSick = (): void => process.exit(1);
new UncaughtErrorHandler(logger, clock, { endExchange: () => undefined, onSick }).install();
process.stdout.write('ready\n');
const callers = Array.from({ length: CALLERS }, callForever);
await Promise.all(buys.priced === true ? [...callers, expireForever()] : callers);

// Writing to a pipe is synchronous, so the line is written before the next step starts.
function acknowledge(line: Acknowledgement): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function deskOf(url: string): Promise<PricedDesk> {
  const onHeld = ({ caller, executionId: id }: AdmittedCall, amount: bigint): void => {
    acknowledge({ kind: 'held', accountId: caller.accountId, id, amount: Number(amount) });
  };
  // Without such calls its modules are not needed, and a process starts sooner.
  const desks = await import('./priced-desk.js');
  return new desks.PricedDesk({
    ...{ dataSource, clock, provider: url },
    bookOf: (accountId) => BOOKS[accountIds.indexOf(accountId)],
    callsWith: (router) =>
      new desks.TellingCalls(onHeld, executions, router, clock, unbounded, connections, limits),
  });
}

/** As each process of a gateway expires credits. */
async function expireForever(): Promise<never> {
  const expiry = new CreditExpiry(dataSource, IDLE_TICKER);
  for (;;) {
    // While the database is gone, nothing expires.
    await expiry.tick().catch(() => undefined);
    await sleep(EXPIRY_INTERVAL_MS);
  }
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
    ...(buys.priced === true && { terms: termsAtRandom() }),
  };
  const isDone = await ledger.credit(request).then(
    () => true,
    () => false,
  );
  if (isDone) acknowledge({ kind: 'credited', accountId, id: key, amount });
}

function termsAtRandom(): CreditTerms {
  const ends = randomInt(2) === 0;
  return {
    ...PAID,
    kind: randomInt(2) === 0 ? 'granted' : 'paid',
    expiresAt: ends ? new Date(Date.now() + randomInt(MAX_CREDIT_LIFE_MS)) : null,
  };
}

function chatAtRandom(): ChatOrder {
  const promptChars = randomInt(1, MOST_PROMPT);
  if (buys.fitted === true && randomInt(2) > 0) return { promptChars };
  return { promptChars, maxTokens: randomInt(1, MOST_OUTPUT) };
}

function orderOf(accountId: string): Order {
  const amount = randomInt(1, MAX_PRICE);
  return {
    ...(buys.priced === true && randomInt(2) > 0 && { chat: chatAtRandom() }),
    accountId,
    amount,
    ...(buys.runs === true && randomInt(3) > 0 && { run: `run ${randomInt(RUNS)}` }),
    ...(buys.fitted === true && randomInt(2) > 0 && { floor: randomInt(1, amount + 1) }),
    ...(buys.books === true && randomInt(2) > 0 && { factorPermille: randomInt(1, 3_000) }),
  };
}

async function call(accountId: string): Promise<void> {
  const order = orderOf(accountId);
  const stays = randomInt(LEAVE_ONE_IN) > 0;
  const leaving = new AbortController();
  if (!stays) {
    setTimeout(() => {
      leaving.abort();
    }, randomInt(MAX_STAY_MS));
  }
  try {
    const response = await fetch(`${harness}/${encodeURIComponent(JSON.stringify(order))}`, {
      signal: leaving.signal,
    });
    const { id, charged } = (await response.json()) as Receipt;
    const kind = OUTCOMES.get(response.status);
    const amount = kind === 'settled' ? charged : order.amount;
    if (kind !== undefined) acknowledge({ kind, accountId, id, amount });
    else if (response.status !== 402) throw new Error(`status ${response.status}`);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    acknowledge({ kind: 'left', accountId, id: randomUUID(), amount: order.amount });
    await sleep(1);
  }
}
