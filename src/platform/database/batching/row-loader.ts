import type { DataSource } from 'typeorm';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { StatementBatcher } from './statement-batcher.js';

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
  private readonly text: string;
  private readonly calls = new StatementBatcher<Wanted, Row | undefined>({
    execute: (wanted) => this.load(wanted),
    groupOf: ({ accountId }) => accountId,
    maxBatch: MAX_BATCH,
    maxStatements: MAX_STATEMENTS,
    onLocked: 'wait',
    queue: { total: MAX_WAITING, refusal: tooMany },
  });

  constructor(
    private readonly dataSource: DataSource,
    table: 'task' | 'stored_file',
  ) {
    // One by one by primary key, whatever the planner thinks of the table.
    this.text = `
      SELECT t.* FROM unnest($1::uuid[], $2::uuid[]) a (account_id, id)
       CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE account_id = a.account_id AND id = a.id OFFSET 0) t`;
  }

  /** The row; undefined where there is none. Throws the database's error, and 503 where too many wait. */
  find(accountId: string, id: string): Promise<Row | undefined> {
    return this.calls.run({ accountId, id });
  }

  private async load(wanted: readonly Wanted[]): Promise<(Row | undefined)[]> {
    const once = new Map(wanted.map((one) => [keyOf(one.accountId, one.id), one]));
    const rows = await this.dataSource.query<Row[]>(this.text, [
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
