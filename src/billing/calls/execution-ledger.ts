import assert from 'node:assert/strict';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { disabledAccount } from '../../auth/bearer.guard.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { Clock } from '../../common/time/clock.js';
import { OnceAnHour } from '../../common/time/once-an-hour.js';
import type { ReadyCalls } from '../../platform/database/batching/group-queues.js';
import type { StatementBatcher } from '../../platform/database/batching/statement-batcher.js';
import type { RunConflict, Unfunded } from '../../admission/hold-refusal.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { isOfLeavingAccount } from '../accounts/accounts.js';
import { ExecutionRepository } from './execution.repository.js';
import type {
  BeginResult,
  ExecutionEnd,
  ExecutionStart,
  ExecutionCommand,
  FinishOutcome,
  Held,
} from './execution-commands.js';
import { ProcessLease } from '../recovery/process-lease.js';
import { executionBatcher, NotCommitted } from './execution-batcher.js';
import type { CallReversal } from '../recovery/reversal.js';
import { Reversals } from '../recovery/reversals.js';

/** Longest wait for a hold. */
const BEGIN_PATIENCE_MS = 5_000;
/** Longest wait for a durable settlement. */
export const SUCCEED_PATIENCE_MS = 20_000;
/** Longest wait for a release. Afterwards it is made later, as a reversal. */
export const FAIL_PATIENCE_MS = 2_000;

/** A call that succeeded at its provider. */
export type ExecutionSuccess = Omit<
  ExecutionEnd,
  | 'executionId'
  | 'accountId'
  | 'run'
  | 'errorCode'
  | 'chargedMicroUsd'
  | 'providerFault'
  | 'uncharged'
> & {
  readonly chargedMicroUsd: bigint;
  /** From the first request to a provider to the end of its answer. */
  readonly upstreamMs?: number | undefined;
};
/** A call that failed. */
export type ExecutionFailure = Pick<ExecutionEnd, 'provider' | 'providerRequestId' | 'durationMs'> &
  Partial<
    Pick<
      ExecutionEnd,
      | 'upstreamModel'
      | 'providerFault'
      | 'providerFigures'
      | 'uncharged'
      | 'outputCap'
      | 'costMicroUsd'
      | 'attempts'
    >
  > & { readonly errorCode: string };

/**
 * Holds before a synchronous call, settles or releases after it, and keeps its record. Each is one durable statement
 * that many calls share (decisions G-22, G-25). Call `begin`, then once `succeed` or `fail`.
 */
@Injectable()
export class ExecutionLedger {
  private readonly logger = new Logger(ExecutionLedger.name);
  private readonly commands: StatementBatcher<ExecutionCommand, BeginResult | FinishOutcome>;
  private readonly capped = new OnceAnHour();

  constructor(
    dataSource: DataSource,
    private readonly process: ProcessLease,
    private readonly reversals: Reversals,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    const statements = new ExecutionRepository(dataSource);
    this.commands = executionBatcher({
      execute: (commands, waits) => {
        metrics.batchSize.observe(commands.length);
        return statements.commit(process.id, commands, waits);
      },
      isEnd: ({ kind }) => kind === 'finish',
      patienceMsOf,
      nowMs: () => clock.nowMs(),
    });
  }

  /** Counts of calls that wait for their hold, without those of locked accounts. */
  get waiting(): ReadyCalls {
    return this.commands.ready;
  }

  /**
   * Holds the amount, or what fits, and records the call as running. What fits, and what is refused, is
   * decided on values read under the account's lock. Throws 503 service_unavailable when the database cannot be reached, and 403
   * account_disabled when the account was closed meanwhile to move to another cell; then nothing stays held.
   */
  async begin(start: ExecutionStart): Promise<Held | Unfunded | RunConflict> {
    assert(start.amountMicroUsd > 0n, 'hold amount must be positive');
    if (this.reversals.isFull) throw notRecorded();
    this.process.trackOpenCall(start.executionId);
    try {
      const command = { kind: 'begin', accountId: start.accountId, start } as const;
      const result = await this.commands.run(command);
      assert(typeof result === 'object', 'a start has the result of an end');
      if (result.outcome === 'held') {
        this.metrics.heldMicroUsd.inc({ model: start.model }, Number(result.amountMicroUsd));
        return result;
      }
      const isRefused = 'availableMicroUsd' in result || 'limitMicroUsd' in result;
      assert(isRefused, `unexpected outcome of a hold: ${result.outcome}`);
      this.process.untrackOpenCall(start.executionId);
      return result;
    } catch (error) {
      // The account was closed after the call had passed the check of its key. Its statement was rolled back.
      const isClosed = isOfLeavingAccount(error);
      if (isClosed || error instanceof NotCommitted)
        this.process.untrackOpenCall(start.executionId);
      else this.reversals.add(reversalOf(start));
      throw isClosed ? disabledAccount() : error;
    }
  }

  /**
   * Settles at most the held amount, frees the rest and records success. Returns once that is durable. When it throws, the
   * caller must respond with an error, because the hold is or will be released and a charge reversed. Throws 503
   * service_unavailable when the database cannot be reached, when another process released the hold because this process
   * seemed dead, or when the database lost the hold.
   */
  async succeed(start: ExecutionStart, success: ExecutionSuccess): Promise<void> {
    assert(success.chargedMicroUsd >= 0n, 'charge must not be negative');
    const { executionId, accountId, run } = start;
    const end = { executionId, accountId, run, errorCode: null, providerFault: null, ...success };
    const outcome = await this.finish(end).catch(async (error: unknown) => {
      await this.reversals.addDurably(reversalOf(start, success));
      throw error;
    });
    if (outcome === 'done') {
      this.process.committed.note({ kind: 'call', accountId, id: executionId });
      this.metrics.chargedMicroUsd.inc({ model: start.model }, Number(success.chargedMicroUsd));
      this.metrics.countCost(start.model, success.costMicroUsd, success.chargedMicroUsd);
      this.countWork(start, success);
      if (success.isCapped === true) this.warnOfCappedCharge(start, success);
      return;
    }
    if (outcome === 'excess') this.reversals.add(reversalOf(start, success));
    const isGone = outcome === 'conflict' || outcome === 'missing';
    assert(isGone, `unexpected outcome of a settlement: ${outcome}`);
    throw notRecorded();
  }

  /**
   * Releases the hold and records the failure. If the database cannot be reached within {@link FAIL_PATIENCE_MS}, it queues
   * a reversal and returns, so that the caller can respond with its own error. Throws 409 conflict if the call had
   * succeeded.
   */
  async fail(start: ExecutionStart, failure: ExecutionFailure): Promise<void> {
    const { executionId, accountId, run } = start;
    const end = { executionId, accountId, run, ...NO_CHARGE, ...failure };
    const outcome = await this.finish(end).catch(() => {
      this.reversals.add({ ...reversalOf(start, failure), errorCode: failure.errorCode });
      return 'done' as const;
    });
    if (outcome !== 'done' && outcome !== 'missing') {
      throw new GatewayError('conflict', 'The call had already succeeded.');
    }
    this.metrics.failedCalls.inc({ model: start.model });
    this.metrics.countCost(start.model, failure.costMicroUsd);
  }

  /** A response that is sent as a whole has no time to its first token. */
  private countWork({ model }: ExecutionStart, success: ExecutionSuccess): void {
    const { basis, firstByteMs, durationMs, upstreamMs } = success;
    if (typeof basis?.quantity === 'object') this.metrics.countTokens(model, basis.quantity);
    if (upstreamMs !== undefined)
      this.metrics.modelUpstreamSeconds.observe({ model }, upstreamMs / 1000);
    if (firstByteMs !== null && durationMs !== null && firstByteMs < durationMs)
      this.metrics.firstTokenSeconds.observe({ model }, firstByteMs / 1000);
  }

  /** Warns the operator: a provider that generates more than requested costs money at each call. */
  private warnOfCappedCharge(
    { executionId, model }: ExecutionStart,
    success: ExecutionSuccess,
  ): void {
    this.metrics.cappedCharges.inc({ model });
    const { provider, upstreamModel, chargedMicroUsd } = success;
    const route = `${provider ?? 'no provider'} (${upstreamModel ?? 'no model'})`;
    if (!this.capped.isDue(`${model} ${route}`, this.clock.nowMs())) return;
    this.logger.warn(
      `${toPublicId('exec', executionId)}: ${route} generated more of ${model} than was held; ` +
        `only the hold of ${chargedMicroUsd} micro-USD was charged (logged once an hour)`,
    );
  }

  private async finish(end: ExecutionEnd): Promise<FinishOutcome> {
    const command = { kind: 'finish', accountId: end.accountId, end } as const;
    const outcome = await this.commands.run(command);
    assert(typeof outcome === 'string', 'an end has the result of a start');
    if (outcome !== 'excess') this.process.untrackOpenCall(end.executionId);
    if (outcome === 'missing') {
      this.metrics.callsLost.inc();
      this.logger.error(`the database has lost the hold of call ${end.executionId}`);
    }
    return outcome;
  }
}

function patienceMsOf(command: ExecutionCommand): number {
  if (command.kind === 'begin') return BEGIN_PATIENCE_MS;
  return command.end.errorCode === null ? SUCCEED_PATIENCE_MS : FAIL_PATIENCE_MS;
}

const NO_CHARGE = {
  chargedMicroUsd: null,
  upstreamModel: null,
  basis: null,
  firstByteMs: null,
  providerFault: null,
} as const;

function reversalOf(
  start: ExecutionStart,
  { provider, providerRequestId }: Pick<ExecutionEnd, 'provider' | 'providerRequestId'> = {
    provider: null,
    providerRequestId: null,
  },
): CallReversal {
  const { executionId, accountId, apiKeyId, model, endpoint } = start;
  const errorCode = 'service_unavailable';
  return {
    executionId,
    accountId,
    apiKeyId,
    model,
    endpoint,
    errorCode,
    provider,
    providerRequestId,
  };
}

function notRecorded(): GatewayError {
  return new GatewayError('service_unavailable', 'The call could not be recorded.', {
    retryAfterSeconds: 1,
  });
}
