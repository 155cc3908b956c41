import type { MicroUsd } from '../common/money/micro-usd.js';

/** Where a synchronous call stands (spec: operator API). */
export type ExecutionStatus = 'running' | 'succeeded' | 'failed';

/** The record of one synchronous call: what happened, what it cost. */
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
  readonly provider: string | null;
  readonly providerRequestId: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

/** The columns of an execution as the driver reads them. */
export interface ExecutionRow {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly status: ExecutionStatus;
  readonly error_code: string | null;
  readonly charged: string | null;
  readonly provider: string | null;
  readonly provider_request_id: string | null;
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
    provider: row.provider,
    providerRequestId: row.provider_request_id,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}
