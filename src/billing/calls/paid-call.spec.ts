import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import {
  type End,
  type Event,
  callHistories,
  type CallHistory,
  HOLD,
  Oracle,
  type Step,
} from '../../../test/support/paid-call-histories.js';
import { SELF_MADE_ROUTER } from '../../../test/support/self-made-router.js';
import { speechCallOf } from '../../../test/support/speech-call.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { CallConcurrencyLimit } from '../../admission/call-concurrency-limit.js';
import { ProviderConnectionLimit } from '../../admission/provider-connection-limit.js';
import { SystemClock } from '../../common/time/clock.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import { ClientLeft, ShuttingDown } from './call-errors.js';
import type { ExecutionStart, Held } from './execution-commands.js';
import type { ExecutionFailure, ExecutionSuccess } from './execution-ledger.js';
import type { PaidCall, PaidCallContext } from './paid-call.js';
import { PaidCalls } from './paid-calls.js';

const CALL_DEADLINE_MS = 1_000;

/** A ledger that notes the ends of calls. */
class NotingLedger {
  readonly ends: End[] = [];
  begun = 0;

  /** Runs until a settlement is durable. */
  meanwhile = (): Promise<void> => Promise.resolve();

  constructor(private readonly does: CallHistory['ledger']) {}

  begin({ amountMicroUsd }: ExecutionStart): Promise<Held> {
    this.begun += 1;
    return Promise.resolve({ outcome: 'held', amountMicroUsd, capReason: null });
  }

  async succeed(_start: unknown, { chargedMicroUsd }: ExecutionSuccess): Promise<void> {
    this.ends.push({ charge: chargedMicroUsd });
    await this.meanwhile();
    if (this.does === 'settles nothing') throw new Error('the database is gone');
  }

  async fail(_start: unknown, { errorCode }: ExecutionFailure): Promise<void> {
    this.ends.push({ code: errorCode });
    await Promise.resolve();
    if (this.does === 'releases nothing') throw new Error('the database is gone');
  }
}

describe('a paid call', () => {
  const unbounded = new CallConcurrencyLimit({ maxParallelCallsPerKey: 0 });
  beforeEach(() => {
    Logger.overrideLogger(false);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function callsOf(ledger: NotingLedger) {
    const connections = new ProviderConnectionLimit(
      { nameOf: (provider) => provider },
      { providerMaxConnections: 1 },
    );
    const limits = { callDeadlineMs: CALL_DEADLINE_MS };
    const known = ledger as PaidCallContext['ledger'];
    const clock = new SystemClock();
    const calls = new PaidCalls(known, SELF_MADE_ROUTER, clock, unbounded, connections, limits);
    return { calls, connections };
  }

  async function play(history: CallHistory) {
    const ledger = new NotingLedger(history.ledger);
    const { calls, connections } = callsOf(ledger);
    const body = { uses: 0, retain: () => (body.uses += 1), release: () => (body.uses -= 1) };
    const response = { headersSent: true, destroy: () => undefined } as unknown as ServerResponse;
    const call = {
      ...speechCallOf('0198c0de-0000-7000-8000-000000000003'),
      countedBody: body as unknown as AdmittedCall['countedBody'],
      ...(history.hasResponse && { response }),
    };
    let isAcknowledged = false;
    try {
      await using paid = await calls.start(call, { amountMicroUsd: HOLD, basis: null });
      const takeAll = async (all: readonly Step[], goesOn: boolean): Promise<void> => {
        for (const each of all) {
          const meanwhile = each.kind === 'settle' ? each.meanwhile : [];
          ledger.meanwhile = () => takeAll(meanwhile, true);
          try {
            await take(calls, paid, each);
            isAcknowledged ||= each.kind === 'settle';
          } catch (error) {
            if (!goesOn) throw error;
          }
        }
      };
      await takeAll(history.steps, history.goesOn);
    } catch {
      // What it throws goes to its caller.
    }
    const [connection, timers] = [connections.acquire(call.routes), jest.getTimerCount()];
    connection.release();
    const { begun, ends } = ledger;
    return { begun, ends, isAcknowledged, inFlight: calls.inFlight, uses: body.uses, timers };
  }

  it('ends exactly once, charges at most its hold, and leaves nothing behind, whatever happens to it', async () => {
    await fc.assert(
      fc.asyncProperty(callHistories, async (history) => {
        const { end } = new Oracle(history);
        const isCharged =
          end !== undefined && 'charge' in end && history.ledger !== 'settles nothing';
        expect(await play(history)).toMatchObject({
          begun: 1,
          ends: [end],
          isAcknowledged: isCharged,
          inFlight: 0,
          uses: 0,
          timers: 0,
        });
      }),
      { numRuns: 500, examples: [[ofCharge(HOLD + 1n)], [ofCharge(-1n)]] },
    );
  });

  it.each([
    [true, false],
    [false, undefined],
  ])(
    'that is stopped tells clients not to retry if its work was made: %s (G-51)',
    async (isMade, shouldRetry) => {
      const { calls } = callsOf(new NotingLedger('works'));
      const call = speechCallOf('0198c0de-0000-7000-8000-000000000003');
      const paid = await calls.start(call, { amountMicroUsd: HOLD, basis: null });
      if (isMade) paid.onMade({ unit: 'request', quantity: 1 });
      const reason = new ShuttingDown();
      paid.abort(reason);
      const { code } = reason;
      await expect(paid.orRelease(Promise.reject(reason))).rejects.toMatchObject({
        code,
        shouldRetry,
      });
    },
  );
});

/** A call that is charged this. */
const ofCharge = (charge: bigint): CallHistory => ({
  steps: [
    { kind: 'attempt', result: 'made' },
    { kind: 'settle', charge, meanwhile: [] },
  ],
  goesOn: false,
  hasResponse: false,
  ledger: 'works',
});

async function take(calls: PaidCalls, paid: PaidCall, step: Step): Promise<void> {
  switch (step.kind) {
    case 'attempt':
      await paid.attempt(() => {
        if (step.result === 'fault') throw new Error('a fault of ours');
        if (step.result === 'refused') throw unavailable();
        return Promise.resolve({ providerRequestId: null });
      });
      return;
    case 'attempt-until':
      await paid.attempt(async () => {
        await pass(calls, paid, step.event);
        while (!paid.signal.aborted) await pass(calls, paid, 'time');
        throw new Error('cut');
      });
      return;
    case 'rest':
      await paid.orRelease(step.isWhole ? Promise.resolve() : Promise.reject(unavailable()));
      return;
    case 'settle':
      await paid.settle(step.charge === undefined ? {} : { chargedMicroUsd: step.charge });
      return;
    case 'first-byte':
      paid.onFirstByte();
      return;
    case 'leave':
    case 'shut-down':
    case 'time':
      await pass(calls, paid, step.kind);
  }
}

async function pass(calls: PaidCalls, paid: PaidCall, event: Event): Promise<void> {
  if (event === 'leave') paid.abort(new ClientLeft());
  else if (event === 'shut-down') calls.abortAll();
  else await jest.advanceTimersToNextTimerAsync();
}

const unavailable = () => new ProviderError('unavailable', { provider: 'sandbox', sent: true });
