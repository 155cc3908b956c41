import type { AdmittedCall } from '../../admission/admitted-call.js';
import { mayHaveLimit } from '../../auth/caller.js';
import type {
  ChargeBasis,
  UnchargedQuantity,
  ProviderFigures,
} from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { ProviderFault } from '../../providers/http/provider-fault.js';

/** A synchronous call before it goes to a provider, and the money to hold for it. */
export interface ExecutionStart {
  /** Time-ordered UUID; also the id of its charge. */
  readonly executionId: string;
  readonly accountId: string;
  readonly apiKeyId: string | null;
  readonly model: string;
  readonly endpoint: string;
  /** The caller's own name for the call. */
  readonly clientRequestId: string | null;
  readonly amountMicroUsd: MicroUsd;
  /** The key may have a spend limit. */
  readonly isCapped?: boolean;
}

/** The start of an admitted call that holds this amount. */
export function startOfCall(call: AdmittedCall, amountMicroUsd: MicroUsd): ExecutionStart {
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

/** How a synchronous call ended: charged, or failed with an error code. */
export interface ExecutionEnd {
  readonly executionId: string;
  readonly accountId: string;
  readonly chargedMicroUsd: MicroUsd | null;
  readonly errorCode: string | null;
  readonly provider: string | null;
  readonly upstreamModel: string | null;
  readonly providerRequestId: string | null;
  /** Null for calls that failed. */
  readonly basis: ChargeBasis | null;
  /** Milliseconds from admission to the first byte of the response; null without one. */
  readonly firstByteMs: number | null;
  /** Milliseconds from admission to the end of the provider's work. */
  readonly durationMs: number | null;
  /** The provider's message about its failure, for operators. */
  readonly providerFault: ProviderFault | null;
  /** Whether the price was above the hold, so that only the hold was charged. */
  readonly isCapped?: boolean;
  /** Cost figures that the provider reported, for operators. */
  readonly providerFigures?: ProviderFigures | null;
  /** What was generated and not charged, because the call failed midway. */
  readonly uncharged?: UnchargedQuantity | null;
}

/**
 * The outcome of a start. `missing`: unknown account; `conflict`: the id was used before; `over_limit`: above the spend
 * limit of its key.
 */
export type BeginOutcome = 'held' | 'insufficient' | 'over_limit' | 'conflict' | 'missing';
/** The outcome of an end. `conflict`: the call has ended in another way; `excess`: a charge above its hold. */
export type FinishOutcome = 'done' | 'conflict' | 'excess' | 'missing';

/** One step of a call: the hold before its provider works, or its end. */
export type ExecutionCommand =
  | { readonly kind: 'begin'; readonly accountId: string; readonly start: ExecutionStart }
  | { readonly kind: 'finish'; readonly accountId: string; readonly end: ExecutionEnd };
