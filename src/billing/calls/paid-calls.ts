import { Inject, Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { routesForQuote } from '../../admission/route-choice.js';
import { CallConcurrencyLimit } from '../../admission/call-concurrency-limit.js';
import { ProviderConnectionLimit } from '../../admission/provider-connection-limit.js';
import type { Quote } from '../../common/money/charge-basis.js';
import { Clock } from '../../common/time/clock.js';
import type { Operation } from '../../providers/ports/provider-ports.js';
import { ProviderRouter } from '../../providers/routing/provider-router.js';
import { ShuttingDown } from './call-errors.js';
import { ExecutionLedger } from './execution-ledger.js';
import { PaidCall, type PaidCallContext } from './paid-call.js';

/** Injection token of the {@link CallLimits}. */
export const CALL_LIMITS = Symbol('CALL_LIMITS');

/** Longest total time of a synchronous call, in milliseconds. */
export interface CallLimits {
  readonly callDeadlineMs: number;
}

/**
 * Starts synchronous paid calls, and knows those that run. With {@link PaidCall} it is the only code that moves money
 * for a synchronous call (API: Money; decisions G-22, G-25).
 */
@Injectable()
export class PaidCalls {
  private readonly running = new Set<PaidCall>();
  private readonly context: PaidCallContext;
  private beginning = 0;
  private isStopped = false;

  constructor(
    @Inject(ExecutionLedger) ledger: PaidCallContext['ledger'],
    @Inject(ProviderRouter) router: PaidCallContext['router'],
    clock: Clock,
    private readonly concurrency: CallConcurrencyLimit,
    private readonly connections: ProviderConnectionLimit,
    @Inject(CALL_LIMITS) { callDeadlineMs }: CallLimits,
  ) {
    const onEnd = (paid: PaidCall): void => {
      this.running.delete(paid);
      concurrency.release(paid.caller);
    };
    this.context = { ledger, router, clock, callDeadlineMs, onEnd };
  }

  /** Number of calls between admission and end, including those whose client has disconnected. */
  get inFlight(): number {
    return this.running.size;
  }

  /** Number of them that wait for their hold. */
  get waiting(): number {
    return this.beginning;
  }

  /**
   * Holds what the quote says, and returns the call, which has to be taken with `await using`: so it ends on every path. Throws 429
   * when the key or the account has too many concurrent calls, 503 when all connections to the provider are in use or the
   * database cannot be reached, 402 when the balance is too low.
   */
  async start<O extends Operation>(call: AdmittedCall<O>, quote: Quote): Promise<PaidCall<O>> {
    // A request that waited, such as for its turn with an idempotency key, may come here after the rest was aborted.
    if (this.isStopped) throw new ShuttingDown();
    const routes = routesForQuote(call, quote);
    const connection = this.connections.acquire(routes);
    const routed = routes === call.routes ? call : { ...call, routes };
    const tooMany = this.concurrency.acquire(call.caller);
    if (tooMany) {
      connection.release();
      throw tooMany;
    }
    try {
      call.kept?.begin();
    } catch (error) {
      connection.release();
      this.concurrency.release(call.caller);
      throw error;
    }
    const paid = new PaidCall(routed, quote, connection, this.context);
    this.running.add(paid);
    this.beginning += 1;
    try {
      await paid.begin();
    } finally {
      this.beginning -= 1;
    }
    return paid;
  }

  /** Aborts every running call. Each releases its hold and is recorded as failed with `shutdown`. */
  abortAll(): void {
    this.isStopped = true;
    const reason = new ShuttingDown();
    for (const paid of this.running) paid.abort(reason);
  }
}
