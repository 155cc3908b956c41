import type { DataSource } from 'typeorm';
import { GatewayError } from '../common/errors/gateway-error.js';

/** Statements under way at once. */
const LANES = 2;
/** Most rows that one statement looks for. */
const MAX_BATCH = 128;
/** Most look-ups that wait for one; more are refused. */
const MAX_WAITING = 10_000;

/** A row that is found by the account it belongs to and its id. */
export interface OwnedRow {
  readonly account_id: string;
  readonly id: string;
}

interface Waiting<Row> {
  readonly accountId: string;
  readonly id: string;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Finds rows of a table for many callers in shared statements, each of which takes everything that came meanwhile. So a crowd
 * that asks at the same instant needs two connections, not one for each. No timer: a look-up that finds a lane idle leaves at
 * once. A look-up sees everything that was committed before it was asked for.
 */
export class SharedLookup<Row extends OwnedRow> {
  readonly #text: string;
  #waiting: Waiting<Row>[] = [];
  #underWay = 0;

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
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ accountId, id, resolve, reject });
      if (this.#underWay < LANES) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#underWay += 1;
    while (this.#waiting.length > 0) await this.#answer(this.#waiting.splice(0, MAX_BATCH));
    this.#underWay -= 1;
  }

  async #answer(batch: readonly Waiting<Row>[]): Promise<void> {
    try {
      const asked = new Map(
        batch.map((waiting) => [keyOf(waiting.accountId, waiting.id), waiting]),
      );
      const rows = await this.dataSource.query<Row[]>(this.#text, [
        [...asked.values()].map(({ accountId }) => accountId),
        [...asked.values()].map(({ id }) => id),
      ]);
      const found = new Map(rows.map((row) => [keyOf(row.account_id, row.id), row]));
      for (const { accountId, id, resolve } of batch) resolve(found.get(keyOf(accountId, id)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
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
