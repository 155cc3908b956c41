import assert from 'node:assert/strict';
import type { QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { LOCK_TIMEOUT_MS } from '../session-settings.js';
import { PreparedStatement } from '../prepared-statement.js';
import type { QueueLimits } from './batcher-options.js';
import { StatementBatcher } from './statement-batcher.js';

/** A function of the database, and how many calls of it share a statement. */
export interface BatchedFunctionTerms {
  readonly name: string;
  /** SQL types of its parameters, in their order; the first is the account. */
  readonly types: readonly string[];
  /** Names of what it answers, in their order. */
  readonly answers: readonly string[];
  /** A function of all values of the first parameters, asked before the first call: it takes all locks in their order. */
  readonly locks?: { readonly name: string; readonly parameters: number };
  /** Most calls in one statement. */
  readonly maxBatch: number;
  /** Shared statements under way at once. */
  readonly maxStatements: number;
  /** Default: no limit. */
  readonly queue?: QueueLimits;
}

/** A shared statement waits this long for a lock; then the accounts of its calls are tried apart. */
const SHARED_LOCK_TIMEOUT_MS = 500;

/** Calls of one function in shared statements. The accounts of a statement are locked in the order of their ids. */
export class BatchedFunction<Row extends QueryResultRow> {
  private readonly statement: PreparedStatement<Row>;
  private readonly calls: StatementBatcher<readonly unknown[], Row>;

  constructor(
    dataSource: DataSource,
    private readonly terms: BatchedFunctionTerms,
  ) {
    const { name, types, answers, locks, maxBatch, maxStatements, queue } = terms;
    const names = types.map((_, index) => `c${index + 1}`);
    const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
    const setsLockTimeout = `set_config('lock_timeout', $${types.length + 1}, true) IS NOT NULL`;
    // CASE sets the timeout before the accounts are locked.
    const guard = locks
      ? `CASE WHEN ${setsLockTimeout} THEN ${locks.name}(${arrays.slice(0, locks.parameters).join(', ')}) END`
      : setsLockTimeout;
    // OFFSET keeps the calls from being made before all of the inner statement has run.
    this.statement = new PreparedStatement(
      dataSource,
      name,
      `SELECT ${answers.map((answer) => `s.${answer}`).join(', ')}
         FROM (SELECT * FROM unnest(${arrays.join(', ')}) WITH ORDINALITY a (${names.join(', ')}, place)
                WHERE (SELECT ${guard})
                ORDER BY c1, place OFFSET 0) a
        CROSS JOIN LATERAL ${name}(${names.map((column) => `a.${column}`).join(', ')}) s (${answers.join(', ')})
        ORDER BY a.place`,
    );
    this.calls = new StatementBatcher({
      execute: (calls, waits) => this.execute(calls, waits),
      groupOf: ([account]) => String(account),
      onLocked: 'wait',
      maxBatch,
      maxStatements,
      ...(queue && { queue }),
    });
  }

  /** What one call answered. Throws the database's error, which in an outage other calls get too. */
  run(values: readonly unknown[]): Promise<Row> {
    assert(values.length === this.terms.types.length, 'a parameter has no value');
    return this.calls.run(values);
  }

  private execute(calls: readonly (readonly unknown[])[], waits: boolean): Promise<Row[]> {
    const { types } = this.terms;
    const lockTimeoutMs = waits ? LOCK_TIMEOUT_MS : SHARED_LOCK_TIMEOUT_MS;
    return this.statement.run([
      ...types.map((_, index) => calls.map((values) => values[index] ?? null)),
      String(lockTimeoutMs),
    ]);
  }
}
