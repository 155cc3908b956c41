import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { SELF_MADE_ROUTER } from '../../../test/support/self-made-router.js';
import { speechCallOf } from '../../../test/support/speech-call.js';
import { fundedAccount, balanceOf } from '../../../test/support/test-ledger.js';
import { ledgerOf, type TestLedger } from '../../../test/support/test-ledger.js';
import { HOUR_MS } from '../../common/time/spans.js';
import { auditLedger } from '../audit/audit.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { SystemClock } from '../../common/time/clock.js';
import type { ExecutionLedger } from './execution-ledger.js';
import type { ExecutionsService } from './executions.service.js';
import { CallConcurrencyLimit } from '../../admission/call-concurrency-limit.js';
import { ProviderConnectionLimit } from '../../admission/provider-connection-limit.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { PaidCall } from './paid-call.js';
import { PaidCalls } from './paid-calls.js';

const FUNDS = 1_000n;
const SMALL = 100n;
const PRICE = 600n;
/** A deadline that passes within a test, but after the hold. */
const SHORT_MS = 500;

/** What a provider does for a call; the charge, if it is not the quote. */
type Work = (paid: PaidCall) => Promise<bigint | undefined>;

/** A call from its start to its settlement, as an endpoint makes it. */
async function pay(calls: PaidCalls, call: AdmittedCall, amount: bigint, work: Work) {
  await using paid = await calls.start(call, { amountMicroUsd: amount, basis: null });
  const { result } = await paid.attempt(async () => {
    return { providerRequestId: 'req_1', chargedMicroUsd: await work(paid) };
  });
  const { chargedMicroUsd } = result;
  return await paid.settle(chargedMicroUsd === undefined ? {} : { chargedMicroUsd });
}

const made = (chargedMicroUsd?: bigint): Work => {
  return () => Promise.resolve(chargedMicroUsd);
};
/** Work of a provider that never answers. */
const endless: Work = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('cut'));
    });
  });
const broken: Work = () => Promise.reject(new Error('broken'));

describe('PaidCalls', () => {
  const clock = new SystemClock();
  const unbounded = new CallConcurrencyLimit({ maxParallelCallsPerKey: 0 });
  let database: TestDatabase;
  let own: TestLedger;
  let executions: ExecutionLedger;
  let reads: ExecutionsService;
  let calls: PaidCalls;
  let call: AdmittedCall;

  beforeAll(async () => {
    database = await createTestDatabase();
    const { dataSource } = database;
    own = ledgerOf(dataSource);
    executions = own.executions;
    reads = own.reads;
  });
  beforeEach(async () => {
    calls = payingWith(unbounded, HOUR_MS);
    call = speechCallOf(await fundedAccount(database.dataSource, FUNDS));
  });
  afterEach(async () => {
    expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
    expect(calls.inFlight).toBe(0);
  });
  afterAll(async () => {
    await own.owed.beforeApplicationShutdown();
    await database.drop();
  });

  const payingWith = (shares: CallConcurrencyLimit, callDeadlineMs: number, max = 1_000) => {
    const names = { nameOf: (provider: string) => provider };
    const connections = new ProviderConnectionLimit(names, { providerMaxConnections: max });
    return new PaidCalls(executions, SELF_MADE_ROUTER, clock, shares, connections, {
      callDeadlineMs,
    });
  };
  const books = () => balanceOf(database.dataSource, call.caller.accountId);

  it('charges the whole hold unless the work returns a lower charge', async () => {
    expect(await pay(calls, call, PRICE, made())).toBe(PRICE);
    expect(await books()).toEqual([FUNDS - PRICE, 0n]);
    call = speechCallOf(call.caller.accountId);
    await pay(calls, call, 400n, made(1n));
    expect(await books()).toEqual([FUNDS - PRICE - 1n, 0n]);
  });

  it('releases the hold at once when the work returns a charge above it', async () => {
    await expect(pay(calls, call, PRICE, made(PRICE + 1n))).rejects.toMatchObject({
      code: 'internal_error',
    });
    expect(await books()).toEqual([FUNDS, 0n]);
    expect(await reads.find(call.executionId)).toMatchObject({
      status: 'failed',
      chargedMicroUsd: null,
    });
  });

  it('does not call the provider when the balance is too low', async () => {
    let asked = false;
    const work: Work = (paid) => {
      asked = true;
      return made()(paid);
    };
    await expect(pay(calls, call, FUNDS + 1n, work)).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
    expect(asked).toBe(false);
    expect(await books()).toEqual([FUNDS, 0n]);
  });

  it('aborts every call at shutdown and records the reason', async () => {
    const work: Work = (paid) => {
      const working = endless(paid);
      calls.abortAll();
      return working;
    };
    await expect(pay(calls, call, PRICE, work)).rejects.toBeInstanceOf(GatewayError);
    expect(await books()).toEqual([FUNDS, 0n]);
    expect(await reads.find(call.executionId)).toMatchObject({ errorCode: 'shutdown' });
  });

  it('starts no call after the shutdown has aborted the others', async () => {
    calls.abortAll();
    await expect(pay(calls, call, PRICE, made())).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    expect(await reads.find(call.executionId)).toBeUndefined();
    expect(await books()).toEqual([FUNDS, 0n]);
  });

  it('counts a call that waits for its hold, and aborts it at shutdown before it is sent', async () => {
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM account WHERE id = $1 FOR UPDATE', [call.caller.accountId]);
    let asked = false;
    const waiting = pay(calls, call, PRICE, (paid) => {
      asked = true;
      return made()(paid);
    });
    await sleep(50);
    expect(calls.inFlight).toBe(1);
    calls.abortAll();
    await runner.rollbackTransaction();
    await runner.release();
    await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(asked).toBe(false);
    expect(await reads.find(call.executionId)).toMatchObject({ errorCode: 'shutdown' });
  });

  it('counts a call of its key until it ends, however it ends', async () => {
    const one = payingWith(new CallConcurrencyLimit({ maxParallelCallsPerKey: 1 }), HOUR_MS);
    const next = () => ({ ...call, executionId: uuidV7(clock.nowMs()) });
    await pay(one, next(), SMALL, async (paid) => {
      await expect(pay(one, next(), SMALL, made())).rejects.toMatchObject({
        code: 'rate_limit_exceeded',
      });
      return made()(paid);
    });
    await expect(pay(one, next(), FUNDS, made())).rejects.toMatchObject({ status: 402 });
    await expect(pay(one, next(), SMALL, broken)).rejects.toThrow();
    await pay(one, next(), SMALL, made());
    expect(await books()).toEqual([FUNDS - 2n * SMALL, 0n]);
  });

  it('refuses a call before any hold while no connection to its provider is free', async () => {
    const one = payingWith(unbounded, HOUR_MS, 1);
    const next = () => ({ ...call, executionId: uuidV7(clock.nowMs()) });
    await pay(one, next(), SMALL, async (paid) => {
      const refused = next();
      await expect(pay(one, refused, SMALL, made())).rejects.toMatchObject({
        code: 'service_unavailable',
        status: 503,
        retryAfterSeconds: 1,
      });
      expect(await books()).toEqual([FUNDS, SMALL]);
      expect(await reads.find(refused.executionId)).toBeUndefined();
      return made()(paid);
    });
    await expect(pay(one, next(), SMALL, broken)).rejects.toThrow();
    await expect(pay(one, next(), FUNDS, made())).rejects.toMatchObject({ status: 402 });
    await pay(one, next(), SMALL, made());
    expect(await books()).toEqual([FUNDS - 2n * SMALL, 0n]);
  });

  it('releases the hold of a call that leaves its scope without an end', async () => {
    await (async () => {
      await using paid = await calls.start(call, { amountMicroUsd: PRICE, basis: null });
      expect(await books()).toEqual([FUNDS, PRICE]);
      expect(paid.signal.aborted).toBe(false);
    })();
    expect(await books()).toEqual([FUNDS, 0n]);
    expect(await reads.find(call.executionId)).toMatchObject({ errorCode: 'internal_error' });
  });

  it('charges a call once, also when its endpoint settles it twice', async () => {
    await using paid = await calls.start(call, { amountMicroUsd: PRICE, basis: null });
    await paid.attempt(() => Promise.resolve({ providerRequestId: null }));
    await paid.settle();
    await expect(paid.settle()).rejects.toThrow('call has already ended');
    expect(await books()).toEqual([FUNDS - PRICE, 0n]);
  });

  describe('at the deadline of a call', () => {
    const readerOf = (headersSent: boolean) => {
      const reader = {
        headersSent,
        removeHeader: () => undefined,
        isCut: false,
        destroy: () => (reader.isCut = true),
      };
      return reader;
    };
    const payLate = (reader: ReturnType<typeof readerOf>, work: Work) => {
      const late = { ...call, response: reader as unknown as ServerResponse };
      return pay(payingWith(unbounded, SHORT_MS), late, PRICE, work);
    };

    it('aborts the response and charges the work that the provider then completes', async () => {
      const reader = readerOf(true);
      const work: Work = async (paid) => {
        paid.onFirstByte();
        while (!reader.isCut) await sleep(5);
        return made()(paid);
      };
      await payLate(reader, work);
      expect(await books()).toEqual([FUNDS - PRICE, 0n]);
    });

    it('keeps the client of a response that is sent as a whole, and charges it', async () => {
      const reader = readerOf(false);
      const deadline = { hasPassed: false };
      const work: Work = async (paid) => {
        paid.onArrival();
        setTimeout(() => (deadline.hasPassed = true), SHORT_MS);
        while (!deadline.hasPassed) await sleep(5);
        expect(paid.signal.aborted).toBe(false);
        return made()(paid);
      };
      expect(await payLate(reader, work)).toBe(PRICE);
      expect([reader.isCut, await books()]).toEqual([false, [FUNDS - PRICE, 0n]]);
    });

    it('aborts the call but keeps its client when headers were sent and the body has not begun', async () => {
      const reader = readerOf(true);
      const run = payLate(reader, endless);
      await expect(run).rejects.toMatchObject({ code: 'provider_timeout' });
      expect([reader.isCut, await books()]).toEqual([false, [FUNDS, 0n]]);
    });

    it('aborts a call whose response has not begun, releases its hold, and records the tried route (ERR-39)', async () => {
      const route = { provider: 'slow', upstreamModel: 'its-model' };
      const work: Work = (paid) => {
        paid.onAttempt(route, false);
        return endless(paid);
      };
      const run = payLate(readerOf(false), work);
      // The provider may have done the work, so SDKs are told not to ask for it again.
      await expect(run).rejects.toMatchObject({ code: 'provider_timeout', shouldRetry: false });
      expect(await books()).toEqual([FUNDS, 0n]);
      expect(await reads.find(call.executionId)).toMatchObject(route);
    });
  });
});
