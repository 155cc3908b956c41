import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { SURFACE_CODES, surfaceOf } from '../common/errors/surface.js';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { type StopSignal, StopSource } from '../common/stop-signal.js';
import { Clock } from '../common/time/clock.js';
import { ProviderError } from '../providers/http/provider-error.js';
import { ExecutionLedger } from './execution-ledger.js';
import type { AdmittedCall } from '../admission/admitted-call.js';

/** No synchronous call lasts longer; a hold still open then is released by the sweeper. */
const HOLD_LIFETIME_MS = 3_600_000;

/**
 * Thrown by work whose client left before anything was made: the hold is released, the record says `client_left`, and
 * nobody is there to read the error.
 */
export class ClientLeft extends GatewayError {
  constructor() {
    super('invalid_request', 'The client left before the answer began.');
  }
}

/** How a call ended well: its value, who did the work, and what is charged where that is less than the hold. */
export interface PaidResult<T> {
  readonly value: T;
  readonly provider: string;
  readonly providerRequestId: string | null;
  readonly chargedMicroUsd?: MicroUsd;
}

/** The provider's part of a paid call; gives up when the signal aborts. */
export type PaidWork<T> = (signal: StopSignal) => Promise<PaidResult<T>>;

/**
 * The one place where a synchronous call meets money: hold, provider, then settle or release, exactly one of them
 * (spec: Billing model; decisions G-22, G-25).
 */
@Injectable()
export class PayOnSuccess {
  private readonly running = new Set<StopSource>();

  constructor(
    private readonly executions: ExecutionLedger,
    private readonly clock: Clock,
  ) {}

  /** Calls between hold and end. */
  get inFlight(): number {
    return this.running.size;
  }

  /**
   * Holds the price, does the work, settles, and returns the value once the settlement is durable.
   * Throws 402 when the balance cannot cover the price; otherwise what the work threw, after the release.
   */
  async run<T>(call: AdmittedCall, amountMicroUsd: MicroUsd, work: PaidWork<T>): Promise<T> {
    await this.hold(call, amountMicroUsd);
    const stop = new StopSource();
    this.running.add(stop);
    try {
      const result = await this.attempt(call, amountMicroUsd, work, stop);
      const chargedMicroUsd = result.chargedMicroUsd ?? amountMicroUsd;
      await this.executions.succeed({
        executionId: call.executionId,
        accountId: call.caller.accountId,
        provider: result.provider,
        providerRequestId: result.providerRequestId,
        chargedMicroUsd,
      });
      return result.value;
    } finally {
      this.running.delete(stop);
    }
  }

  /** Gives up every call still running; each releases its hold and is recorded as failed with `shutdown`. */
  abortAll(): void {
    const reason = new GatewayError('service_unavailable', 'The gateway is shutting down.', {
      retryAfterSeconds: 1,
    });
    for (const stop of this.running) stop.abort(reason);
  }

  private async hold(call: AdmittedCall, amountMicroUsd: MicroUsd): Promise<void> {
    const outcome = await this.executions.begin({
      executionId: call.executionId,
      accountId: call.caller.accountId,
      apiKeyId: call.caller.apiKeyId,
      model: call.row.id,
      endpoint: call.endpoint,
      amountMicroUsd,
      expiresAt: new Date(this.clock.nowMs() + HOLD_LIFETIME_MS),
    });
    if (outcome === 'insufficient') {
      const { insufficient } = SURFACE_CODES[surfaceOf(call.endpoint)];
      throw new GatewayError(insufficient, 'The balance cannot cover this request.');
    }
  }

  private async attempt<T>(
    call: AdmittedCall,
    heldMicroUsd: MicroUsd,
    work: PaidWork<T>,
    signal: StopSignal,
  ): Promise<PaidResult<T>> {
    try {
      const result = await work(signal);
      // Here, so that a charge above its hold releases it instead of leaving it to the sweeper.
      assert((result.chargedMicroUsd ?? 0n) <= heldMicroUsd, 'a charge never exceeds its hold');
      return result;
    } catch (thrown) {
      const error = signal.aborted ? (signal.reason as GatewayError) : publicError(thrown, call);
      await this.executions.fail({
        executionId: call.executionId,
        accountId: call.caller.accountId,
        ...providerBehind(thrown),
        errorCode: signal.aborted ? 'shutdown' : recordedCode(error),
      });
      throw error;
    }
  }
}

/** A provider that breaks off in the middle of a body fails outside the router. */
function publicError(thrown: unknown, call: AdmittedCall): GatewayError {
  return thrown instanceof ProviderError
    ? thrown.toGatewayError(call.row.operation)
    : toGatewayError(thrown);
}

function recordedCode(error: GatewayError): string {
  return error instanceof ClientLeft ? 'client_left' : error.code;
}

/** The provider that failed, for the record: a provider's error is the cause of the public one. */
function providerBehind(thrown: unknown): {
  provider: string | null;
  providerRequestId: string | null;
} {
  const error =
    thrown instanceof Error && thrown.cause instanceof ProviderError ? thrown.cause : thrown;
  return error instanceof ProviderError
    ? { provider: error.provider, providerRequestId: error.providerRequestId }
    : { provider: null, providerRequestId: null };
}
