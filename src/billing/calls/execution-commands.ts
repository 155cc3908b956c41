import type { AdmittedCall, RunOfCall } from '../../admission/admitted-call.js';
import type { RunConflict, Unfunded } from '../../admission/hold-refusal.js';
import { mayHaveLimit } from '../../auth/caller.js';
import type {
  AppliedPriceBook,
  ChargeBasis,
  Fit,
  Quote,
  UnchargedQuantity,
  ProviderFigures,
  OutputCapReason,
} from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { ProviderFault } from '../../providers/http/provider-fault.js';
import type { KeptAttempt } from '../../providers/routing/attempt-log.js';

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
  /** What is held or, with `fit`, the most that is held. */
  readonly amountMicroUsd: MicroUsd;
  /** Holds what fits instead of the whole amount (decision G-106). */
  readonly fit?: Fit | undefined;
  /** The price book by which the call is priced; absent = the list. */
  readonly priceBook?: AppliedPriceBook | undefined;
  /** The key may have a spend limit. */
  readonly isCapped?: boolean;
  /** The run in which the call counts. */
  readonly run?: RunOfCall | undefined;
}

/** The start of an admitted call that holds what its quote says. */
export function startOfCall(
  call: AdmittedCall,
  { amountMicroUsd, fit }: Pick<Quote, 'amountMicroUsd' | 'fit'>,
): ExecutionStart {
  return {
    executionId: call.executionId,
    accountId: call.caller.accountId,
    apiKeyId: call.caller.apiKeyId,
    model: call.row.id,
    endpoint: call.endpoint,
    clientRequestId: call.clientRequestId ?? null,
    amountMicroUsd,
    fit,
    priceBook: call.row.priceBook,
    isCapped: mayHaveLimit(call.caller),
    run: call.run,
  };
}

/** How a synchronous call ended: charged, or failed with an error code. */
export interface ExecutionEnd {
  readonly executionId: string;
  readonly accountId: string;
  /** The run in which the call began. */
  readonly run?: RunOfCall | undefined;
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
  /** What the call costs at its provider; null or absent where that is not known. */
  readonly costMicroUsd?: MicroUsd | null;
  /** The output cap that the gateway chose, in tokens. */
  readonly outputCap?: number | null;
  /** The attempts at providers, for operators; null where a single one succeeded, and where none was made. */
  readonly attempts?: readonly KeptAttempt[] | null;
}

/** A start that holds money. */
export interface Held {
  readonly outcome: 'held';
  readonly amountMicroUsd: MicroUsd;
  /** Null unless the start holds what fits. */
  readonly capReason: OutputCapReason | null;
}

/** The result of a start. `missing`: unknown account; `conflict`: the id was used before. */
export type BeginResult =
  Held | Unfunded | RunConflict | { readonly outcome: 'conflict' | 'missing' };
/** The outcome of an end. `conflict`: the call has ended in another way; `excess`: a charge above its hold. */
export type FinishOutcome = 'done' | 'conflict' | 'excess' | 'missing';

/** One step of a call: the hold before its provider works, or its end. */
export type ExecutionCommand =
  | { readonly kind: 'begin'; readonly accountId: string; readonly start: ExecutionStart }
  | { readonly kind: 'finish'; readonly accountId: string; readonly end: ExecutionEnd };
