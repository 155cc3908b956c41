import type { Pool, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';

/** The driver waits this long for an answer; longer than any statement_timeout of the gateway. */
const ANSWER_TIMEOUT_MS = 8_000;

/**
 * One statement on the driver's own pool, parsed and planned once per connection. It is for the hot path of the ledger,
 * where TypeORM's query runner would cost too much. Throws the driver's errors; a connection that failed is not used
 * again.
 */
export class PreparedStatement<Row extends QueryResultRow> {
  readonly #pool: Pool;

  constructor(
    dataSource: DataSource,
    private readonly name: string,
    private readonly text: string,
  ) {
    this.#pool = (dataSource.driver as unknown as { readonly master: Pool }).master;
  }

  /** The rows that the statement returns for these parameters. */
  async run(values: unknown[]): Promise<Row[]> {
    const query = { name: this.name, text: this.text, values, query_timeout: ANSWER_TIMEOUT_MS };
    return (await this.#pool.query<Row>(query)).rows;
  }
}
