import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { isTransient } from '../../database/database-errors.js';
import { PreparedStatement } from '../../database/prepared-statement.js';

/** Statements under way at once: an account that is locked elsewhere holds up one of them. */
const LANES = 2;
/** Most submissions in one statement. */
const MAX_BATCH = 128;
/** Most submissions that wait for one; more are refused. */
const MAX_WAITING = 10_000;
/** Types of the parameters of the function, in their order. */
const TYPES = [
  ...['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'text', 'text', 'json', 'text', 'text'],
  ...['boolean', 'text', 'text', 'bigint', 'text', 'jsonb', 'jsonb', 'text', 'text'],
  ...['text', 'text', 'uuid'],
];

/** What became of a submission. */
export type SubmitOutcome =
  'created' | 'claim_lost' | 'insufficient' | 'over_limit' | 'conflict' | 'missing';

/** And when its task was made. */
export interface SubmitRow {
  readonly outcome: SubmitOutcome;
  readonly created: Date | null;
}

interface Waiting {
  readonly values: readonly unknown[];
  readonly resolve: (row: SubmitRow) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Submissions of many callers in shared statements, each of which takes everything that came meanwhile. No timer: one that
 * finds a lane idle leaves at once. The accounts of a statement are locked in the order of their ids.
 */
export class SubmitBatches {
  readonly #statement: PreparedStatement<SubmitRow>;
  #waiting: Waiting[] = [];
  #underWay = 0;

  /** @param name of the function, which takes one submission */
  constructor(dataSource: DataSource, name: 'task_submit' | 'task_submit_capped') {
    const names = TYPES.map((_, index) => `c${index + 1}`);
    const arrays = TYPES.map((type, index) => `$${index + 1}::${type}[]`);
    this.#statement = new PreparedStatement(
      dataSource,
      name,
      `SELECT s.outcome, s.created
         FROM (SELECT * FROM unnest(${arrays.join(', ')}) WITH ORDINALITY a (${names.join(', ')}, place)
                ORDER BY c1, place OFFSET 0) a
        CROSS JOIN LATERAL ${name}(${names.map((column) => `a.${column}`).join(', ')}) s
        ORDER BY a.place`,
    );
  }

  /** What became of one submission. Throws the database's error, which may be one that others share, and 503 where too many wait. */
  run(values: readonly unknown[]): Promise<SubmitRow> {
    assert(values.length === TYPES.length, 'every parameter has a value');
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ values, resolve, reject });
      if (this.#underWay < LANES) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#underWay += 1;
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MAX_BATCH));
    this.#underWay -= 1;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const columns = TYPES.map((_, index) => batch.map(({ values }) => values[index] ?? null));
      const rows = await this.#statement.run(columns);
      for (const [index, { resolve }] of batch.entries()) {
        const row = rows[index];
        assert(row, 'the statement answers every submission');
        resolve(row);
      }
    } catch (error) {
      // One submission that the database refuses must not take the others with it.
      if (batch.length === 1 || isTransient(error)) for (const { reject } of batch) reject(error);
      else for (const waiting of batch) await this.#commit([waiting]);
    }
  }
}

function tooMany(): GatewayError {
  return new GatewayError('service_unavailable', 'Too many tasks are being submitted.', {
    retryAfterSeconds: 1,
  });
}
