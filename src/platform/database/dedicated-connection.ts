import type pg from 'pg';
import type { QueryResultRow } from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { ChosenPool } from './chosen-pool.js';
import type { ServerChoice } from './server-choice.js';

type PostgresDataSourceOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

/**
 * One connection to a data source's database in addition to its pool, for statements that must not wait for a free
 * connection of the pool. It is opened when it is first needed, and again after it broke or was silent for longer than
 * a statement may take.
 */
export class DedicatedConnection {
  private readonly pool: pg.Pool;

  /** `limitMs`: the longest wait for the connection, and the longest wait for a response. */
  constructor(dataSource: DataSource, limitMs: number) {
    const options = dataSource.options as PostgresDataSourceOptions;
    const { applicationName } = options;
    this.pool = new ChosenPool({
      ...(options.extra as pg.PoolConfig & { readonly choice: ServerChoice }),
      ...(applicationName !== undefined && { application_name: applicationName }),
      max: 1,
      connectionTimeoutMillis: limitMs,
      query_timeout: limitMs,
      allowExitOnIdle: true,
    });
    // An idle connection that breaks is replaced at the next statement.
    this.pool.on('error', () => undefined);
  }

  /** The rows of one statement. Throws the driver's errors; then the next statement opens a new connection. */
  async query<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** Closes the connection. */
  close(): Promise<void> {
    return this.pool.end();
  }
}
