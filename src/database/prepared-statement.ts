import type { Pool, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';

/** The driver gives up on an answer after this long; longer than any statement_timeout of the gateway. */
const ANSWER_TIMEOUT_MS = 8_000;

/**
 * One statement on the driver's own pool, parsed and planned once per connection: the ledger's hot path, without TypeORM's
 * runner around it. Throws the driver's errors; a connection that failed is not used again.
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

  /** The rows the statement answers for these parameters. */
  async run(values: unknown[]): Promise<Row[]> {
    const query = { name: this.name, text: this.text, values, query_timeout: ANSWER_TIMEOUT_MS };
    return (await this.#pool.query<Row>(query)).rows;
  }
}
