import type { JsonObject } from '../common/json-object.js';
import type { AppliedPriceBook, ChargeBasis } from '../common/money/charge-basis.js';
import type { Task, TaskContent, TaskFault, TaskStatus } from './task.js';

/** The columns of a task as the driver reads them. */
export interface TaskRow {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string | null;
  readonly kind: string;
  readonly model: string;
  readonly client_request_id: string | null;
  readonly run: string | null;
  readonly status: TaskStatus;
  readonly progress: number | null;
  readonly sealed_input: string | null;
  readonly details: JsonObject;
  readonly memory: JsonObject;
  readonly provider: string;
  readonly provider_base_url: string;
  readonly on_sandbox: boolean;
  readonly upstream_model: string;
  readonly provider_job_id: string | null;
  readonly found: JsonObject | null;
  readonly result: JsonObject | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly reserved: string;
  readonly charged: string | null;
  readonly refunded: string | null;
  readonly route_cost: string | null;
  readonly cost: string | null;
  readonly unit: ChargeBasis['unit'] | null;
  readonly quantity: ChargeBasis['quantity'] | null;
  readonly unit_price: ChargeBasis['unitPrice'] | null;
  readonly price_book: AppliedPriceBook | null;
  readonly content: ContentJson | null;
  readonly webhook_url: string | null;
  readonly webhook_secret: string | null;
  readonly evidence_status: string | null;
  readonly evidence_at: Date | null;
  readonly provider_fault: TaskFault | null;
  readonly unknown_state: string | null;
  readonly cancel_asked_at: Date | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

type ContentJson = Omit<TaskContent, 'expiresAt'> & { readonly expiresAt: string };

/** The task of a row. Its input stays encrypted. */
export function taskOf(row: TaskRow): Task {
  return {
    id: row.id,
    accountId: row.account_id,
    apiKeyId: row.api_key_id,
    kind: row.kind,
    model: row.model,
    clientRequestId: row.client_request_id,
    run: row.run,
    status: row.status,
    progress: row.progress,
    input: {},
    details: row.details,
    stepState: row.memory,
    provider: row.provider,
    providerBaseUrl: row.provider_base_url,
    onSandbox: row.on_sandbox,
    upstreamModel: row.upstream_model,
    providerJobId: row.provider_job_id,
    result: row.result,
    error: errorOf(row),
    reservedMicroUsd: BigInt(row.reserved),
    chargedMicroUsd: row.charged === null ? null : BigInt(row.charged),
    refundedMicroUsd: row.refunded === null ? null : BigInt(row.refunded),
    routeCostMicroUsd: row.route_cost === null ? null : BigInt(row.route_cost),
    costMicroUsd: row.cost === null ? null : BigInt(row.cost),
    basis: basisOf(row),
    priceBook: row.price_book,
    content: row.content && { ...row.content, expiresAt: new Date(row.content.expiresAt) },
    webhook:
      row.webhook_url === null ? null : { url: row.webhook_url, sealedSecret: row.webhook_secret },
    evidence: evidenceOf(row),
    fault: row.provider_fault,
    unknownState: row.unknown_state,
    isCancelAsked: row.cancel_asked_at !== null,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}

function basisOf({ unit, quantity, unit_price: unitPrice }: TaskRow): ChargeBasis | null {
  if (unit === null || quantity === null || unitPrice === null) return null;
  const isEstimated = typeof quantity === 'object' && quantity.isEstimated === true;
  return { unit, quantity, unitPrice, isEstimated };
}

function errorOf({ error_code: code, error_message: message }: TaskRow): Task['error'] {
  return code === null ? null : { code, message: message ?? '' };
}

function evidenceOf({ evidence_status: status, evidence_at: seenAt }: TaskRow): Task['evidence'] {
  return status === null || seenAt === null ? null : { status, seenAt };
}
