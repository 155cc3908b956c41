import type { DataSource } from 'typeorm';
import type { OutputCapReason } from '../../common/money/charge-basis.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { BatchedFunction } from '../../platform/database/batching/batched-function.js';

const MAX_STATEMENTS = 2;
const MAX_BATCH = 128;
/** Most queued submissions in all, and of one account; more are refused. */
const MAX_WAITING = 10_000;
const MAX_WAITING_PER_ACCOUNT = 2_000;
/** Types of the SQL function's parameters, in order. */
const TYPES = [
  ...['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'text', 'text', 'json', 'text', 'text'],
  ...['boolean', 'text', 'text', 'bigint', 'text', 'jsonb', 'jsonb', 'text', 'text'],
  ...['text', 'text', 'uuid', 'boolean', 'text', 'bigint', 'jsonb', 'bigint', 'bigint', 'bigint'],
  'integer',
];

/** The outcome of a submission. */
export type SubmitOutcome =
  | 'created'
  | 'claim_lost'
  | 'insufficient'
  | 'over_limit'
  | 'over_run'
  | 'run_conflict'
  | 'too_many_open'
  | 'conflict'
  | 'missing';

/** The outcome, the time of creation for `created`, and the least of what the account and the key's limit left before. */
export interface SubmitRow {
  readonly outcome: SubmitOutcome;
  readonly created: Date | null;
  /** Micro-USD. */
  readonly room: string | null;
  /** What is held and what bound it, where the submission holds what fits; null: the whole amount is held. */
  readonly reserved: string | null;
  readonly bound_by: OutputCapReason | null;
}

/**
 * Submissions of many callers in shared statements. Each gets its outcome or the database's error, which others of the batch
 * may get too, and 503 when too many are queued.
 */
export function submitBatches(dataSource: DataSource): BatchedFunction<SubmitRow> {
  return new BatchedFunction(dataSource, {
    name: 'task_submit_v2',
    types: TYPES,
    answers: ['outcome', 'created', 'room', 'reserved', 'bound_by'],
    maxBatch: MAX_BATCH,
    maxStatements: MAX_STATEMENTS,
    queue: { total: MAX_WAITING, perGroup: MAX_WAITING_PER_ACCOUNT, refusal: tooMany },
  });
}

function tooMany(): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'The gateway has too many tasks to store. Try again after the seconds in Retry-After.',
    {
      retryAfterSeconds: 1,
    },
  );
}
