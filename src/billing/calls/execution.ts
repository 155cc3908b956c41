import type {
  AppliedPriceBook,
  ChargeBasis,
  OutputCapReason,
  UnchargedQuantity,
  ProviderFigures,
} from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { ProviderFault } from '../../providers/http/provider-fault.js';
import type { KeptAttempt } from '../../providers/routing/attempt-log.js';

/** States of a synchronous call (API: GET /v1/executions). */
export type ExecutionStatus = 'running' | 'succeeded' | 'failed';

/** The record of one synchronous call: what happened, and what it cost. */
export interface Execution {
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly status: ExecutionStatus;
  readonly errorCode: string | null;
  /** Null until the call succeeded. */
  readonly chargedMicroUsd: MicroUsd | null;
  /** The part of the charge that an operator refunded. */
  readonly refundedMicroUsd: MicroUsd | null;
  readonly provider: string | null;
  readonly upstreamModel: string | null;
  readonly providerRequestId: string | null;
  readonly heldMicroUsd: MicroUsd;
  /** How the charge was computed. Null for calls that failed or run, and for calls from before this was recorded. */
  readonly basis: ChargeBasis | null;
  /** The price book by which the call was priced; null = the list. */
  readonly priceBook: AppliedPriceBook | null;
  /** Whether the price was above the hold, so that only the hold was charged. */
  readonly isCapped: boolean;
  /** Cost figures that the provider reported, for operators. */
  readonly providerFigures: ProviderFigures | null;
  /** What was generated and not charged, because the call failed midway; for operators. */
  readonly uncharged: UnchargedQuantity | null;
  /** What the call cost at its provider; null where that is not known. */
  readonly costMicroUsd: MicroUsd | null;
  /** The output cap that the gateway chose, in tokens, and what bound it; null where the caller named one. */
  readonly outputCap: number | null;
  readonly outputCapReason: OutputCapReason | null;
  /** The run in which the call counts. */
  readonly run: string | null;
  readonly clientRequestId: string | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  /** The provider's message about its failure, for operators. */
  readonly providerFault: ProviderFault | null;
  /** The attempts at providers; null where a single one succeeded, and where none was made or kept. */
  readonly attempts: readonly KeptAttempt[] | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

/** The columns of an execution, as the driver reads them. */
export interface ExecutionRow {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly status: ExecutionStatus;
  readonly error_code: string | null;
  readonly charged: string | null;
  readonly refunded: string | null;
  readonly provider: string | null;
  readonly upstream_model: string | null;
  readonly provider_request_id: string | null;
  readonly held: string;
  readonly unit: ChargeBasis['unit'] | null;
  readonly quantity: ChargeBasis['quantity'] | null;
  readonly unit_price: ChargeBasis['unitPrice'] | null;
  readonly estimated: boolean | null;
  readonly capped: boolean;
  readonly price_book: AppliedPriceBook | null;
  readonly provider_figures: ProviderFigures | null;
  readonly uncharged: UnchargedQuantity | null;
  readonly cost: string | null;
  readonly output_cap: number | null;
  readonly output_cap_reason: OutputCapReason | null;
  readonly run: string | null;
  readonly client_request_id: string | null;
  readonly first_byte_ms: number | null;
  readonly duration_ms: number | null;
  readonly provider_fault: ProviderFault | null;
  readonly attempts: readonly KeptAttempt[] | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

/** The execution in a row. */
export function executionOf(row: ExecutionRow): Execution {
  return {
    id: row.id,
    accountId: row.account_id,
    apiKeyId: row.api_key_id,
    model: row.model,
    endpoint: row.endpoint,
    status: row.status,
    errorCode: row.error_code,
    chargedMicroUsd: row.charged === null ? null : BigInt(row.charged),
    refundedMicroUsd: row.refunded === null ? null : BigInt(row.refunded),
    provider: row.provider,
    upstreamModel: row.upstream_model,
    providerRequestId: row.provider_request_id,
    heldMicroUsd: BigInt(row.held),
    basis: basisOf(row),
    priceBook: row.price_book,
    isCapped: row.capped,
    providerFigures: row.provider_figures,
    uncharged: row.uncharged,
    costMicroUsd: row.cost === null ? null : BigInt(row.cost),
    outputCap: row.output_cap,
    outputCapReason: row.output_cap_reason,
    run: row.run,
    clientRequestId: row.client_request_id,
    firstByteMs: row.first_byte_ms,
    durationMs: row.duration_ms,
    providerFault: row.provider_fault,
    attempts: row.attempts,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}

function basisOf({ unit, quantity, unit_price, estimated }: ExecutionRow): ChargeBasis | null {
  if (unit === null || quantity === null || unit_price === null) return null;
  return { unit, quantity, unitPrice: unit_price, isEstimated: estimated === true };
}
