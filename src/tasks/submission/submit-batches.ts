import type { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { BatchedFunction } from '../../platform/database/batching/batched-function.js';

const MAX_STATEMENTS = 2;
const MAX_BATCH = 128;
/** Most queued submissions; more are refused. */
const MAX_WAITING = 10_000;
/** Types of the SQL function's parameters, in order. */
const TYPES = [
  ...['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'text', 'text', 'json', 'text', 'text'],
  ...['boolean', 'text', 'text', 'bigint', 'text', 'jsonb', 'jsonb', 'text', 'text'],
  ...['text', 'text', 'uuid'],
];

/** The outcome of a submission. */
export type SubmitOutcome =
  'created' | 'claim_lost' | 'insufficient' | 'over_limit' | 'conflict' | 'missing';

/** The outcome and, for `created`, the time of creation. */
export interface SubmitRow {
  readonly outcome: SubmitOutcome;
  readonly created: Date | null;
}

/** Batches submissions of many callers into shared statements. */
export class SubmitBatches {
  readonly #submit: BatchedFunction<SubmitRow>;

  /** @param name of the SQL function for one submission */
  constructor(dataSource: DataSource, name: 'task_submit' | 'task_submit_capped') {
    this.#submit = new BatchedFunction(dataSource, {
      name,
      types: TYPES,
      answers: ['outcome', 'created'],
      maxBatch: MAX_BATCH,
      maxStatements: MAX_STATEMENTS,
    });
  }

  /**
   * The outcome of one submission. Throws the database's error, which other submissions of the batch may get too, and 503
   * when too many are queued.
   */
  run(values: readonly unknown[]): Promise<SubmitRow> {
    if (this.#submit.waiting >= MAX_WAITING) return Promise.reject(tooMany());
    return this.#submit.run(values);
  }
}

function tooMany(): GatewayError {
  return new GatewayError('service_unavailable', 'Too many tasks are being submitted.', {
    retryAfterSeconds: 1,
  });
}
