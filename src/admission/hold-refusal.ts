import type { AdmittedCall, RunOfCall } from './admitted-call.js';
import { insufficientFundsError } from './insufficient-funds.error.js';
import { apiFamilyOf } from '../catalog/operations.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { RUN_LIMIT_HEADER } from './run.guard.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import type { Quote } from '../common/money/charge-basis.js';

/** A start for which too little is available: to the account, or of the limit of its key or run. */
export interface Unfunded {
  readonly outcome: 'insufficient' | 'over_limit' | 'over_run';
  /** The least of what the account and the limits leave; negative where a limit was lowered. */
  readonly availableMicroUsd: MicroUsd;
}

/** A start that names another limit than its run has. */
export interface RunConflict {
  readonly outcome: 'run_conflict';
  /** The limit of the run; null: it only counts. */
  readonly limitMicroUsd: MicroUsd | null;
}

/**
 * The 402 of a call for which too little is available; it needs its floor, where it would hold what fits. 409 `conflict` for
 * another limit than that of the run.
 */
export function holdRefusal(
  { endpoint, caller, run }: Pick<AdmittedCall, 'endpoint' | 'caller' | 'run'>,
  quote: Pick<Quote, 'amountMicroUsd' | 'fit' | 'outputCapFor' | 'outputCapField'>,
  refused: Unfunded | RunConflict,
  nowMs: number,
): GatewayError {
  if (refused.outcome === 'run_conflict') return runConflictError(run, refused);
  const { outcome, availableMicroUsd } = refused;
  const { amountMicroUsd, fit, outputCapFor, outputCapField } = quote;
  const shortage = {
    outcome,
    run: run?.id,
    neededMicroUsd: fit?.floorMicroUsd ?? amountMicroUsd,
    availableMicroUsd,
    maxTokens: outputCapFor?.(availableMicroUsd),
    maxTokensField: outputCapField,
  };
  return insufficientFundsError(apiFamilyOf(endpoint), shortage, caller, nowMs);
}

/** 409 `conflict`: the call names another limit than that of its run. */
export function runConflictError(
  run: RunOfCall | undefined,
  { limitMicroUsd }: RunConflict,
): GatewayError {
  const limit =
    limitMicroUsd === null ? 'no limit' : `a limit of ${formatMicroUsd(limitMicroUsd)} micro-USD`;
  const message = `Run "${run?.id ?? ''}" has ${limit}, which its first call set. Send that or none.`;
  return new GatewayError('conflict', message, { param: RUN_LIMIT_HEADER });
}
