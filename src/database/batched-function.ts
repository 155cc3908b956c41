import assert from 'node:assert/strict';
import type { QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { databaseFaultOf } from './database-errors.js';
import { PreparedStatement } from './prepared-statement.js';

/** A function of the database, and how many calls of it share a statement. */
export interface BatchedFunctionTerms {
  readonly name: string;
  /** SQL types of its parameters, in their order; the first is the account. */
  readonly types: readonly string[];
  /** Names of what it answers, in their order. */
  readonly answers: readonly string[];
  /** Most calls in one statement. */
  readonly maxBatch: number;
  /** Statements under way at once: an account that is locked elsewhere holds up one of them. */
  readonly lanes: number;
}

interface Waiting<Row> {
  readonly values: readonly unknown[];
  readonly resolve: (row: Row) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Calls of one function in shared statements, each of which takes everything that came meanwhile. No timer: a call that
 * finds a lane idle leaves at once. The accounts of a statement are locked in the order of their ids.
 */
export class BatchedFunction<Row extends QueryResultRow> {
  readonly #statement: PreparedStatement<Row>;
  #waiting: Waiting<Row>[] = [];
  #underWay = 0;

  constructor(
    dataSource: DataSource,
    private readonly terms: BatchedFunctionTerms,
  ) {
    const { name, types, answers } = terms;
    const names = types.map((_, index) => `c${index + 1}`);
    const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
    this.#statement = new PreparedStatement(
      dataSource,
      name,
      `SELECT ${answers.map((answer) => `s.${answer}`).join(', ')}
         FROM (SELECT * FROM unnest(${arrays.join(', ')}) WITH ORDINALITY a (${names.join(', ')}, place)
                ORDER BY c1, place OFFSET 0) a
        CROSS JOIN LATERAL ${name}(${names.map((column) => `a.${column}`).join(', ')}) s (${answers.join(', ')})
        ORDER BY a.place`,
    );
  }

  /** Calls that are in no statement yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** What one call answered. Throws the database's error, which may be one that other calls share. */
  run(values: readonly unknown[]): Promise<Row> {
    assert(values.length === this.terms.types.length, 'every parameter has a value');
    return new Promise((resolve, reject) => {
      this.#waiting.push({ values, resolve, reject });
      if (this.#underWay < this.terms.lanes) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#underWay += 1;
    const { maxBatch } = this.terms;
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, maxBatch));
    this.#underWay -= 1;
  }

  async #commit(batch: readonly Waiting<Row>[]): Promise<void> {
    try {
      const { types } = this.terms;
      const columns = types.map((_, index) => batch.map(({ values }) => values[index] ?? null));
      const rows = await this.#statement.run(columns);
      for (const [index, { resolve }] of batch.entries()) {
        const row = rows[index];
        assert(row, 'the statement answers every call');
        resolve(row);
      }
    } catch (error) {
      // One call that the database refuses, or whose account is locked, must not take the others with it.
      const parts = isOutage(error) ? [batch] : partsOf(batch, error);
      if (parts.length > 1) for (const part of parts) await this.#commit(part);
      else for (const { reject } of batch) reject(error);
    }
  }
}

/** What is tried again by itself: each account, then each of its calls, but not while the account is locked. */
function partsOf<Row>(
  batch: readonly Waiting<Row>[],
  error: unknown,
): readonly (readonly Waiting<Row>[])[] {
  const accounts = new Map<unknown, Waiting<Row>[]>();
  for (const waiting of batch) {
    const [account] = waiting.values;
    const own = accounts.get(account);
    if (own) own.push(waiting);
    else accounts.set(account, [waiting]);
  }
  // The one with most calls is the likeliest to be locked, which takes time to be found out.
  if (accounts.size > 1) return [...accounts.values()].sort((a, b) => a.length - b.length);
  return databaseFaultOf(error) === 'aborted' ? [batch] : batch.map((waiting) => [waiting]);
}

/** Whether nothing could be said about any of the calls, and some of them may be done. */
function isOutage(error: unknown): boolean {
  return ['unavailable', 'lost'].includes(databaseFaultOf(error));
}
