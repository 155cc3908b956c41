import assert from 'node:assert/strict';
import { Inject, Injectable } from '@nestjs/common';
import { mayHaveLimit } from '../../auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { apiFamilyOf } from '../../catalog/api-families.js';
import { toGatewayError } from '../../common/errors/to-gateway-error.js';
import { abortResponse } from '../../platform/http-server/responses/backpressure.js';
import type { ChargeBasis, Quote, ProviderFigures } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { Clock } from '../../common/time/clock.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import { faultOf, providerErrorBehind } from '../../providers/http/provider-fault.js';
import { ExecutionLedger } from './execution-ledger.js';
import type { ExecutionStart } from './execution-commands.js';
import { type CallProgress, CallState } from './call-state.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { CallConcurrencyLimit } from '../../admission/call-concurrency-limit.js';
import { ProviderConnectionLimit } from '../../admission/provider-connection-limit.js';
import { insufficientFundsError } from '../../admission/insufficient-funds.error.js';
import { blamingField } from './blamed-field.js';

/** Extra time after the deadline for a provider that is already sending. */
const DEADLINE_GRACE_MS = 60_000;

/** Injection token of the {@link CallLimits}. */
export const CALL_LIMITS = Symbol('CALL_LIMITS');

/** Longest total time of a synchronous call, in milliseconds. */
export interface CallLimits {
  readonly callDeadlineMs: number;
}

/**
 * Thrown when the client disconnects before a provider accepts the call. The hold is released and the record says
 * `client_left`; no client receives the error.
 */
export class ClientLeft extends GatewayError {
  constructor() {
    super('invalid_request', 'The client left before the answer began.');
  }
}

/** Recorded as `shutdown`. */
class ShuttingDown extends GatewayError {
  constructor() {
    super('service_unavailable', 'The gateway is shutting down.', { retryAfterSeconds: 1 });
  }
}

/** 502: the call took longer than any call may. SDKs are told not to retry, because the work may have been done (decision G-51). */
export class DeadlinePassed extends GatewayError {
  constructor() {
    super('provider_timeout', 'The call took too long.', { shouldRetry: false });
  }
}

/** The result of a successful call: value, provider, and the charge if it is less than the hold. */
export interface PaidResult<T> {
  readonly value: T;
  readonly provider: string;
  readonly upstreamModel?: string;
  readonly providerRequestId: string | null;
  readonly chargedMicroUsd?: MicroUsd;
  readonly basis?: ChargeBasis;
  /** Whether the price was above the hold, so that only the hold is charged. */
  readonly isCapped?: boolean;
  /** Cost figures that the provider reported. Default: those that the work passed to `CallProgress.onFigures`. */
  readonly providerFigures?: ProviderFigures | undefined;
}

/** The provider's part of a paid call. It must end when the signal aborts. */
export type PaidWork<T> = (signal: AbortSignal, progress: CallProgress) => Promise<PaidResult<T>>;

/**
 * The only class that moves money for a synchronous call: hold, call the provider, then either settle or release
 * (API: Money; decisions G-22, G-25).
 */
@Injectable()
export class PayOnSuccess {
  private readonly running = new Set<CallState>();

  constructor(
    private readonly executions: ExecutionLedger,
    private readonly clock: Clock,
    private readonly callConcurrencyLimit: CallConcurrencyLimit,
    private readonly connections: ProviderConnectionLimit,
    @Inject(CALL_LIMITS) private readonly limits: CallLimits,
  ) {}

  /** Number of calls between admission and end, including those whose client has disconnected. */
  get inFlight(): number {
    return this.running.size;
  }

  /**
   * Holds the price, runs the work, settles, and returns the value once the settlement is durable. Throws 429 when the key or
   * the account has too many concurrent calls, 503 when all connections to the provider are in use, 402 when the balance is
   * too low, or the error of the work, after the release.
   */
  async run<T>(call: AdmittedCall, quote: Quote, work: PaidWork<T>): Promise<T> {
    const connection = this.connections.acquire(call.routes);
    const tooMany = this.callConcurrencyLimit.acquire(call.caller);
    if (tooMany) {
      connection.release();
      throw tooMany;
    }
    const { amountMicroUsd } = quote;
    const running = new CallState(startOf(call, amountMicroUsd), this.clock, connection);
    const { start } = running;
    this.running.add(running);
    const endOfDeadline = this.watchDeadline(call, running);
    try {
      call.countedBody?.retain();
      await this.hold(call, start);
      const result = await this.attempt(call, running, work);
      const { provider, providerRequestId, upstreamModel = null, basis = quote.basis } = result;
      await this.executions.succeed(start, {
        provider,
        providerRequestId,
        upstreamModel,
        basis,
        chargedMicroUsd: result.chargedMicroUsd ?? amountMicroUsd,
        isCapped: result.isCapped ?? false,
        providerFigures: result.providerFigures ?? running.work.providerFigures,
        ...running.timesOfSuccess,
      });
      return result.value;
    } finally {
      call.countedBody?.release();
      endOfDeadline();
      this.running.delete(running);
      this.callConcurrencyLimit.release(call.caller);
      connection.release();
    }
  }

  /** Aborts every running call. Each releases its hold and is recorded as failed with `shutdown`. */
  abortAll(): void {
    const reason = new ShuttingDown();
    for (const { stop } of this.running) stop.abort(reason);
  }

  /**
   * At the deadline, a response that has begun is aborted, while the provider's work continues to its end and is charged
   * (decision G-25). A client that gets the response as a whole stays connected and may still get it. If the provider has
   * sent nothing yet, or needs more than {@link DEADLINE_GRACE_MS} more, the call is aborted.
   */
  private watchDeadline({ response }: AdmittedCall, running: CallState): () => void {
    // The headers of a stream may be sent before its first chunk.
    const abortSentResponse = (): void => {
      if (response?.headersSent === true) abortResponse(response);
    };
    const giveUp = (): void => {
      running.stop.abort(new DeadlinePassed());
    };
    let timer = setTimeout(() => {
      if (response === undefined || !running.hasBegun) {
        giveUp();
        return;
      }
      abortSentResponse();
      timer = setTimeout(() => {
        abortSentResponse();
        giveUp();
      }, DEADLINE_GRACE_MS);
    }, this.limits.callDeadlineMs);
    return () => {
      clearTimeout(timer);
    };
  }

  private async hold(call: AdmittedCall, start: ExecutionStart): Promise<void> {
    const outcome = await this.executions.begin(start);
    if (outcome === 'held') return;
    throw insufficientFundsError(
      apiFamilyOf(call.endpoint),
      outcome,
      call.caller,
      this.clock.nowMs(),
    );
  }

  private async attempt<T>(
    call: AdmittedCall,
    running: CallState,
    work: PaidWork<T>,
  ): Promise<PaidResult<T>> {
    const { start } = running;
    const { signal } = running.stop;
    try {
      // While the call waited for its hold, the gateway may have shut down or the deadline may have passed.
      signal.throwIfAborted();
      const result = await work(signal, running);
      // Checked here, so that a charge above the hold releases it now and not only in a sweep.
      const charge = result.chargedMicroUsd ?? 0n;
      assert(charge <= start.amountMicroUsd, 'charge must not exceed its hold');
      return result;
    } catch (thrown) {
      const error = signal.aborted ? (signal.reason as GatewayError) : publicError(thrown, call);
      await this.executions.fail(start, {
        ...providerBehind(thrown),
        ...running.tried,
        ...running.work,
        errorCode: recordedCode(error),
        durationMs: running.durationMs,
      });
      throw error;
    }
  }
}

function startOf(call: AdmittedCall, amountMicroUsd: MicroUsd): ExecutionStart {
  return {
    executionId: call.executionId,
    accountId: call.caller.accountId,
    apiKeyId: call.caller.apiKeyId,
    model: call.row.id,
    endpoint: call.endpoint,
    clientRequestId: call.clientRequestId ?? null,
    amountMicroUsd,
    isCapped: mayHaveLimit(call.caller),
  };
}

/** The error for the caller. A provider that breaks off within a body throws outside the router, so it is mapped here. */
function publicError(thrown: unknown, call: AdmittedCall): GatewayError {
  const error =
    thrown instanceof ProviderError
      ? thrown.toGatewayError(call.row.operation)
      : toGatewayError(thrown);
  return blamingField(error, call.body);
}

function recordedCode(error: GatewayError): string {
  if (error instanceof ShuttingDown) return 'shutdown';
  return error instanceof ClientLeft ? 'client_left' : error.code;
}

/** The provider that caused the failure, for the record. */
function providerBehind(thrown: unknown) {
  const error = providerErrorBehind(thrown);
  return {
    provider: error?.provider ?? null,
    providerRequestId: error?.providerRequestId ?? null,
    providerFault: error === undefined ? null : faultOf(error),
  };
}
