import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount, balanceOf } from '../../../test/support/test-ledger.js';
import { ledgerOf, type TestLedger } from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';
import { BUILT_IN_MODELS } from '../../catalog/models/built-in.models.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { SystemClock } from '../../common/time/clock.js';
import type { ExecutionLedger } from './execution-ledger.js';
import type { ExecutionsService } from './executions.service.js';
import { CallConcurrencyLimit } from '../../admission/call-concurrency-limit.js';
import { ProviderConnectionLimit } from '../../admission/provider-connection-limit.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { type PaidWork, PayOnSuccess } from './pay-on-success.js';

const FUNDS = 1_000n;
const SMALL = 100n;
const PRICE = 600n;
const priced = (amountMicroUsd: bigint) => ({ amountMicroUsd, basis: null });
const HOUR_MS = 3_600_000;

/** Work of a provider that never answers. */
const endless: PaidWork<string> = (signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('cut'));
    });
  });

describe('PayOnSuccess', () => {
  const clock = new SystemClock();
  const unbounded = new CallConcurrencyLimit({ maxParallelCallsPerKey: 0 });
  let database: TestDatabase;
  let own: TestLedger;
  let executions: ExecutionLedger;
  let reads: ExecutionsService;
  let payOnSuccess: PayOnSuccess;
  let call: AdmittedCall;

  beforeAll(async () => {
    database = await createTestDatabase();
    const { dataSource } = database;
    own = ledgerOf(dataSource);
    executions = own.executions;
    reads = own.reads;
    payOnSuccess = payingWith(unbounded, HOUR_MS);
  });
  beforeEach(async () => {
    call = callOf(await fundedAccount(database.dataSource, FUNDS));
  });
  afterEach(async () => {
    expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
    expect(payOnSuccess.inFlight).toBe(0);
  });
  afterAll(async () => {
    await own.owed.beforeApplicationShutdown();
    await database.drop();
  });

  function callOf(accountId: string): AdmittedCall {
    const row = BUILT_IN_MODELS.find(({ id }) => id === 'aud-v4')!;
    return {
      executionId: uuidV7(Date.now()),
      caller: {
        apiKeyId: uuidV7(Date.now()),
        accountId,
        allowedModels: null,
        requestsPerMinute: null,
        expiresAtMs: null,
      },
      endpoint: '/v1/audio/speech',
      row,
      modelName: row.id,
      routes: row.routes,
    };
  }
  const payingWith = (shares: CallConcurrencyLimit, callDeadlineMs: number, max = 1_000) => {
    const names = { nameOf: (provider: string) => provider };
    const connections = new ProviderConnectionLimit(names, { providerMaxConnections: max });
    return new PayOnSuccess(executions, clock, shares, connections, { callDeadlineMs });
  };
  const books = () => balanceOf(database.dataSource, call.caller.accountId);
  const made = (chargedMicroUsd?: bigint): PaidWork<string> => {
    return () =>
      Promise.resolve({
        value: 'made',
        provider: 'sandbox',
        providerRequestId: 'req_1',
        ...(chargedMicroUsd !== undefined && { chargedMicroUsd }),
      });
  };

  it('charges the whole hold unless the work returns a lower charge', async () => {
    expect(await payOnSuccess.run(call, priced(PRICE), made())).toBe('made');
    expect(await books()).toEqual([FUNDS - PRICE, 0n]);
    call = callOf(call.caller.accountId);
    await payOnSuccess.run(call, priced(400n), made(1n));
    expect(await books()).toEqual([FUNDS - PRICE - 1n, 0n]);
  });

  it('releases the hold at once when the work returns a charge above it', async () => {
    await expect(payOnSuccess.run(call, priced(PRICE), made(PRICE + 1n))).rejects.toMatchObject({
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
    const work: PaidWork<string> = (signal, progress) => {
      asked = true;
      return made()(signal, progress);
    };
    await expect(payOnSuccess.run(call, priced(FUNDS + 1n), work)).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
    expect(asked).toBe(false);
    expect(await books()).toEqual([FUNDS, 0n]);
  });

  it('aborts every call at shutdown and records the reason', async () => {
    const work: PaidWork<string> = (signal, progress) => {
      const working = endless(signal, progress);
      payOnSuccess.abortAll();
      return working;
    };
    await expect(payOnSuccess.run(call, priced(PRICE), work)).rejects.toBeInstanceOf(GatewayError);
    expect(await books()).toEqual([FUNDS, 0n]);
    expect(await reads.find(call.executionId)).toMatchObject({ errorCode: 'shutdown' });
  });

  it('counts a call that waits for its hold, and aborts it at shutdown before it is sent', async () => {
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM account WHERE id = $1 FOR UPDATE', [call.caller.accountId]);
    let asked = false;
    const waiting = payOnSuccess.run(call, priced(PRICE), (signal, progress) => {
      asked = true;
      return made()(signal, progress);
    });
    await sleep(50);
    expect(payOnSuccess.inFlight).toBe(1);
    payOnSuccess.abortAll();
    await runner.rollbackTransaction();
    await runner.release();
    await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(asked).toBe(false);
    expect(await reads.find(call.executionId)).toMatchObject({ errorCode: 'shutdown' });
  });

  it('counts a call of its key until it ends, however it ends', async () => {
    const one = payingWith(new CallConcurrencyLimit({ maxParallelCallsPerKey: 1 }), HOUR_MS);
    const next = () => ({ ...call, executionId: uuidV7(clock.nowMs()) });
    await one.run(next(), priced(SMALL), async (...parts) => {
      await expect(one.run(next(), priced(SMALL), made())).rejects.toMatchObject({
        code: 'rate_limit_exceeded',
      });
      return made()(...parts);
    });
    await expect(one.run(next(), priced(FUNDS), made())).rejects.toMatchObject({ status: 402 });
    await expect(
      one.run(next(), priced(SMALL), () => Promise.reject(new Error('broken'))),
    ).rejects.toThrow();
    await one.run(next(), priced(SMALL), made());
    expect(await books()).toEqual([FUNDS - 2n * SMALL, 0n]);
  });

  it('refuses a call before any hold while no connection to its provider is free', async () => {
    const one = payingWith(unbounded, HOUR_MS, 1);
    const next = () => ({ ...call, executionId: uuidV7(clock.nowMs()) });
    await one.run(next(), priced(SMALL), async (...parts) => {
      const refused = next();
      await expect(one.run(refused, priced(SMALL), made())).rejects.toMatchObject({
        code: 'service_unavailable',
        status: 503,
        retryAfterSeconds: 1,
      });
      expect(await books()).toEqual([FUNDS, SMALL]);
      expect(await reads.find(refused.executionId)).toBeUndefined();
      return made()(...parts);
    });
    await expect(
      one.run(next(), priced(SMALL), () => Promise.reject(new Error('broken'))),
    ).rejects.toThrow();
    await expect(one.run(next(), priced(FUNDS), made())).rejects.toMatchObject({ status: 402 });
    await one.run(next(), priced(SMALL), made());
    expect(await books()).toEqual([FUNDS - 2n * SMALL, 0n]);
  });

  describe('at the deadline of a call', () => {
    const readerOf = (headersSent: boolean) => {
      const reader = { headersSent, isCut: false, destroy: () => (reader.isCut = true) };
      return reader;
    };
    const hurried = () => payingWith(unbounded, 50);

    it('aborts the response and charges the work that the provider then completes', async () => {
      const reader = readerOf(true);
      const work: PaidWork<string> = async (signal, progress) => {
        progress.onFirstByte();
        while (!reader.isCut) await sleep(5);
        return made()(signal, progress);
      };
      await hurried().run({ ...call, response: reader }, priced(PRICE), work);
      expect(await books()).toEqual([FUNDS - PRICE, 0n]);
    });

    it('keeps the client of a response that is sent as a whole, and charges it', async () => {
      const reader = readerOf(false);
      const deadline = { hasPassed: false };
      const work: PaidWork<string> = async (signal, progress) => {
        progress.onArrival();
        setTimeout(() => (deadline.hasPassed = true), 50);
        while (!deadline.hasPassed) await sleep(5);
        expect(signal.aborted).toBe(false);
        return made()(signal, progress);
      };
      expect(await hurried().run({ ...call, response: reader }, priced(PRICE), work)).toBe('made');
      expect([reader.isCut, await books()]).toEqual([false, [FUNDS - PRICE, 0n]]);
    });

    it('aborts the call but keeps its client when headers were sent and the body has not begun', async () => {
      const reader = readerOf(true);
      const run = hurried().run({ ...call, response: reader }, priced(PRICE), endless);
      await expect(run).rejects.toMatchObject({ code: 'provider_timeout' });
      expect([reader.isCut, await books()]).toEqual([false, [FUNDS, 0n]]);
    });

    it('aborts a call whose response has not begun, releases its hold, and records the tried route (ERR-39)', async () => {
      const route = { provider: 'slow', upstreamModel: 'its-model' };
      const work: PaidWork<string> = (signal, progress) => {
        progress.onAttempt(route);
        return endless(signal, progress);
      };
      const run = hurried().run({ ...call, response: readerOf(false) }, priced(PRICE), work);
      // The provider may have done the work, so SDKs are told not to ask for it again.
      await expect(run).rejects.toMatchObject({ code: 'provider_timeout', shouldRetry: false });
      expect(await books()).toEqual([FUNDS, 0n]);
      expect(await reads.find(call.executionId)).toMatchObject(route);
    });
  });
});
