import type { DataSource } from 'typeorm';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { SharedCalls } from './shared-calls.js';

/** Statements under way at once. */
const MAX_STATEMENTS = 2;
/** Most rows that one statement looks for. */
const MAX_BATCH = 128;
/** Most look-ups that wait for one; more are refused. */
const MAX_WAITING = 10_000;

/** A row that is found by the account it belongs to and its id. */
export interface OwnedRow {
  readonly account_id: string;
  readonly id: string;
}

interface Wanted {
  readonly accountId: string;
  readonly id: string;
}

/**
 * Finds rows of a table for many callers in shared statements, so a crowd that asks at the same instant needs two
 * connections, not one for each. A look-up sees everything that was committed before it was asked for.
 */
export class RowLoader<Row extends OwnedRow> {
  readonly #text: string;
  readonly #calls = new SharedCalls<Wanted, Row | undefined>({
    make: (wanted) => this.#find(wanted),
    accountOf: ({ accountId }) => accountId,
    maxBatch: MAX_BATCH,
    maxStatements: MAX_STATEMENTS,
  });

  constructor(
    private readonly dataSource: DataSource,
    table: 'task' | 'stored_file',
  ) {
    // One by one by primary key, whatever the planner thinks of the table.
    this.#text = `
      SELECT t.* FROM unnest($1::uuid[], $2::uuid[]) a (account_id, id)
       CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE account_id = a.account_id AND id = a.id OFFSET 0) t`;
  }

  /** The row; undefined where there is none. Throws the database's error, and 503 where too many wait. */
  find(accountId: string, id: string): Promise<Row | undefined> {
    if (this.#calls.waiting >= MAX_WAITING) return Promise.reject(tooMany());
    return this.#calls.run({ accountId, id });
  }

  async #find(wanted: readonly Wanted[]): Promise<(Row | undefined)[]> {
    const once = new Map(wanted.map((one) => [keyOf(one.accountId, one.id), one]));
    const rows = await this.dataSource.query<Row[]>(this.#text, [
      [...once.values()].map(({ accountId }) => accountId),
      [...once.values()].map(({ id }) => id),
    ]);
    const found = new Map(rows.map((row) => [keyOf(row.account_id, row.id), row]));
    return wanted.map(({ accountId, id }) => found.get(keyOf(accountId, id)));
  }
}

function keyOf(accountId: string, id: string): string {
  return `${accountId}/${id}`;
}

function tooMany(): GatewayError {
  return new GatewayError('service_unavailable', 'Too many tasks and files are being read.', {
    retryAfterSeconds: 1,
  });
}
