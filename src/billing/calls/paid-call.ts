import assert from 'node:assert/strict';
import { Logger } from '@nestjs/common';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { Settlement } from '../../admission/kept/kept-call.js';
import type { ConnectionLease } from '../../admission/provider-connection-limit.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { toPublicId } from '../../common/ids/public-id.js';
import type { ProviderFigures, Quote, UnchargedQuantity } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { Clock } from '../../common/time/clock.js';
import { setSandboxHeader } from '../../platform/http-server/responses/gateway-headers.js';
import { countWaiting } from '../../platform/http-server/responses/response-memory-limit.js';
import type { Operation } from '../../providers/ports/provider-ports.js';
import type {
  AttemptOwner,
  FinishedAttempt,
  Route,
  TriedRoute,
} from '../../providers/ports/attempt.js';
import type {
  ProviderRouter,
  ProviderWork,
  RoutedResult,
} from '../../providers/routing/provider-router.js';
import { AS_QUOTED } from './charge.js';
import { CallDeadline, type TimedCall } from './call-deadline.js';
import { amountHeld, CallNotes } from './call-notes.js';
import { holdRefusal } from '../../admission/hold-refusal.js';
import { failedProviderOf, publicErrorOf, recordedCodeOf } from './call-errors.js';
import { type ExecutionStart, type Held, startOfCall } from './execution-commands.js';
import type { ExecutionLedger } from './execution-ledger.js';

/** What all paid calls of a process share. */
export interface PaidCallContext {
  readonly ledger: Pick<ExecutionLedger, 'begin' | 'succeed' | 'fail'>;
  readonly router: Pick<ProviderRouter, 'run'>;
  readonly clock: Clock;
  readonly callDeadlineMs: number;
  /** Called once, when a call has ended and everything that it used is free again. */
  readonly onEnd: (paid: PaidCall) => void;
}

/** What every provider result has. */
interface ProviderResult {
  readonly providerRequestId: string | null;
}

/**
 * A synchronous call whose price is held. It ends exactly once: by {@link settle}, or by the release of its hold after a
 * failure. Whoever starts it writes
 *
 *     await using paid = await this.calls.start(call, quote);
 *     const { result } = await paid.attempt((port, context) => port.speak(command, context));
 *     await paid.settle();
 *
 * The hold is released when an attempt fails, when a promise given to {@link orRelease} rejects, and, as the last
 * resort, when the call leaves its scope without an end or has none long after its deadline: that is a fault of the
 * endpoint, and logged. When the process dies, the hold is released by the sweep (docs/architecture/adr/0002).
 */
export class PaidCall<O extends Operation = Operation>
  implements AttemptOwner, TimedCall, AsyncDisposable
{
  private static readonly logger = new Logger(PaidCall.name);
  private readonly stop = new AbortController();
  private readonly start: ExecutionStart;
  private readonly startedMs: number;
  private readonly deadline: CallDeadline;
  private hasEnded = false;
  private settlement: Settlement = 'none';
  private firstByteMs: number | null = null;
  private isArriving = false;
  private attempted: RoutedResult<ProviderResult> | undefined;
  private readonly notes: CallNotes;
  private hold: Held | undefined;
  readonly affinity: string | undefined;

  constructor(
    private readonly call: AdmittedCall<O>,
    private readonly quote: Quote,
    private readonly connection: ConnectionLease,
    private readonly context: PaidCallContext,
  ) {
    this.start = startOfCall(call, quote);
    this.affinity = call.affinity;
    this.startedMs = context.clock.nowMs();
    this.notes = new CallNotes(this.startedMs, call);
    this.deadline = new CallDeadline(this, context.callDeadlineMs);
  }

  get caller(): AdmittedCall['caller'] {
    return this.call.caller;
  }
  get accountId(): string {
    return this.caller.accountId;
  }
  get response(): AdmittedCall['response'] {
    return this.call.response;
  }
  get traceParent(): string | undefined {
    return this.notes.traceParent;
  }

  /** What is held for the call. */
  get held(): Held {
    assert(this.hold, 'nothing is held yet');
    return this.hold;
  }

  get hasBegun(): boolean {
    return this.isArriving || this.firstByteMs !== null;
  }

  /** Aborts at its deadline, at shutdown, after {@link abort}. */
  get signal(): AbortSignal {
    return this.stop.signal;
  }

  /** Holds what the quote says; for `PaidCalls.start` only. Throws 402, 403 if the account was closed, or 503 without the database. */
  async begin(): Promise<void> {
    this.call.countedBody?.retain();
    const { ledger, clock } = this.context;
    try {
      const result = await this.notes.traced('hold', ledger.begin(this.start), amountHeld);
      if (result.outcome !== 'held')
        throw holdRefusal(this.call, this.quote, result, clock.nowMs());
      this.hold = result;
    } finally {
      if (!this.hold) this.end();
    }
    // While the call waited for its hold, the gateway may have shut down or the deadline may have passed.
    if (this.signal.aborted) throw await this.release(this.signal.reason);
  }

  /**
   * Does the work at the first provider of the model's routes that accepts it. If none does, the hold is released, and
   * the error for the caller is thrown. The work has to end when its signal aborts.
   */
  async attempt<T extends ProviderResult>(work: ProviderWork<O, T>): Promise<RoutedResult<T>> {
    assert(!this.hasEnded, 'call has already ended');
    const { routes, row } = this.call;
    const working = this.context.router.run(routes, row.operation, work, this);
    return (this.attempted = await this.orRelease(working));
  }

  /**
   * Waits for what belongs to the provider's work after the attempt, such as the rest of a stream. If it rejects, the
   * hold is released, and the error for the caller is thrown.
   */
  async orRelease<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw await this.release(error);
    }
  }

  /**
   * Charges the call, and returns the charge once that is durable. Throws 503 if it cannot be made durable: then nothing
   * stays charged, and the caller must get an error.
   */
  async settle(charge = AS_QUOTED): Promise<MicroUsd> {
    assert(!this.hasEnded, 'call has already ended');
    assert(this.attempted, 'call is settled before its attempt');
    const { amountMicroUsd } = this.held;
    const { chargedMicroUsd = amountMicroUsd, basis = this.quote.basis, isCapped = false } = charge;
    // Checked here, so that a wrong charge releases the hold now and not only in a sweep.
    if (chargedMicroUsd < 0n || chargedMicroUsd > amountMicroUsd)
      throw await this.release(new Error('charge must be from 0 to its hold'));
    this.hasEnded = true;
    this.settlement = 'unknown';
    const { provider, upstreamModel, result } = this.attempted;
    const { durationMs } = this;
    const { providerRequestId } = result;
    const made = basis && { ...basis, choice: this.quote.choice };
    try {
      const settled = this.context.ledger.succeed(this.start, {
        provider,
        providerRequestId,
        upstreamModel,
        basis,
        chargedMicroUsd,
        isCapped,
        ...this.notes.ofSuccess(made, this.context.clock.nowMs(), providerRequestId),
        upstreamMs: this.notes.upstreamMs(this.context.clock.nowMs()),
        // For a response that is sent as a whole, the time of the first byte is the duration.
        firstByteMs: this.firstByteMs ?? durationMs,
        durationMs,
      });
      await this.notes.traced('settlement', settled, () => chargedMicroUsd);
      this.settlement = 'done';
    } finally {
      this.end();
    }
    return chargedMicroUsd;
  }

  /** Aborts the work. The call then fails with this error, unless it has succeeded. The first reason counts. */
  abort(reason: GatewayError): void {
    this.stop.abort(reason);
  }

  /** The first byte of the response was sent to the caller. */
  onFirstByte(): void {
    this.firstByteMs ??= this.durationMs;
    this.notes.onFirstByte(this.firstByteMs);
  }

  /** The provider has begun to send a result that is forwarded only when it is complete. */
  onArrival(): void {
    this.isArriving = true;
  }

  /** What was generated so far. If the call fails, the last reported value is recorded as uncharged (decision G-103). */
  onMade(made: UnchargedQuantity): void {
    this.notes.uncharged = made;
  }

  /** The gateway chose this output cap. It is recorded however the call ends. */
  onOutputCap(tokens: number): void {
    this.notes.outputCap = tokens;
  }

  /** Cost figures that the provider reported. They are recorded however the call ends. */
  onFigures(figures: ProviderFigures): void {
    this.notes.onFigures(figures);
  }

  mayConnect(provider: string): boolean {
    return this.connection.moveTo(provider);
  }

  /** The head of the response says whether the sandbox made it. */
  onAttempt(route: TriedRoute, isSandbox: boolean, of?: Route): void {
    this.notes.onAttempt(
      route,
      this.call.routes.find((own) => own === of),
    );
    if (this.response) setSandboxHeader(this.response, isSandbox);
  }

  onAttemptEnd(attempt: FinishedAttempt): void {
    this.notes.onAttemptEnd(attempt);
  }

  /** What waits in memory counts as unread bytes of the response. */
  onBuffering(bytes: () => number): void {
    if (this.response) countWaiting(this.response, bytes);
  }

  /** At the end of the scope of `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.releaseForgotten();
  }

  /** Ends a call that its endpoint has left without an end; aborts what still runs for it. */
  async releaseForgotten(): Promise<void> {
    if (this.hasEnded) return;
    const id = toPublicId('exec', this.start.executionId);
    PaidCall.logger.error(`${id} was left without settlement; its hold is released`);
    const error = new GatewayError('internal_error', 'An unexpected error occurred.');
    this.abort(error);
    await this.release(error);
  }

  /** Releases the hold if the call has not ended, records the failure, and returns the error for the caller: what was made is not made again. */
  private async release(thrown: unknown): Promise<GatewayError> {
    const { signal, start, durationMs } = this;
    const error = signal.aborted
      ? (signal.reason as GatewayError)
      : publicErrorOf(thrown, this.call);
    if (this.hasEnded) return error;
    this.hasEnded = true;
    const atMs = this.context.clock.nowMs();
    try {
      const released = this.context.ledger.fail(start, {
        ...failedProviderOf(thrown),
        ...this.notes.ofFailure({ thrown, isAborted: signal.aborted, atMs }),
        errorCode: recordedCodeOf(error),
        durationMs,
      });
      await this.notes.traced('release', released);
    } finally {
      this.end();
    }
    return signal.aborted && this.notes.uncharged !== null ? error.withoutRetry() : error;
  }

  private end(): void {
    this.hasEnded = true;
    this.deadline.clear();
    this.call.countedBody?.release();
    this.connection.release();
    this.call.kept?.onEnd(this.settlement);
    this.context.onEnd(this);
  }

  private get durationMs(): number {
    return Math.max(0, Math.round(this.context.clock.nowMs() - this.startedMs));
  }
}
