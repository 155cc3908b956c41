import type { Socket } from 'node:net';
import pg, { type QueryConfig, type QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { plainArray } from './array-literal.js';
import { type OnStatement, statementTermsOf } from './data-source.js';

/** Longest wait of the driver for a response; longer than any statement_timeout of the gateway. */
const ANSWER_TIMEOUT_MS = 8_000;

/**
 * One statement on the driver's own pool, parsed and planned once per connection. It is for the hot path of the ledger,
 * where TypeORM's query runner would cost too much. Throws the driver's errors; a connection that failed is not used
 * again.
 */
export class PreparedStatement<Row extends QueryResultRow> {
  private readonly pool: DriverPool<Row>;
  private readonly keepsNames: boolean;
  private readonly onStatement: OnStatement | undefined;
  /** Counts changes of the schema that the plan could not follow; a part of the name, so that each connection plans anew. */
  private planned = 0;

  constructor(
    dataSource: DataSource,
    private readonly name: string,
    private readonly text: string,
    private readonly responseTimeoutMs = ANSWER_TIMEOUT_MS,
  ) {
    const { keepsNames = true, onStatement } = statementTermsOf(dataSource);
    this.keepsNames = keepsNames;
    this.onStatement = onStatement;
    this.pool = (dataSource.driver as unknown as { readonly master: DriverPool<Row> }).master;
  }

  /** The rows that the statement returns for these parameters. Throws `ETIMEDOUT` when there is no response in time. */
  async run(values: unknown[]): Promise<Row[]> {
    const { planned } = this;
    try {
      return await this.runAs(planned, values);
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      // Nothing was executed. Another run may have noticed it too.
      if (this.planned === planned) this.planned += 1;
      return await this.runAs(this.planned, values);
    }
  }

  private async runAs(planned: number, values: unknown[]): Promise<Row[]> {
    const { text, responseTimeoutMs } = this;
    const name = planned === 0 ? this.name : `${this.name}:${planned}`;
    // Behind a pooler that drops names, each run is parsed and planned anew.
    const types = WITH_PLAIN_ARRAYS;
    const config = this.keepsNames ? { name, text, values, types } : { text, values, types };
    const query = new BoundedQuery(config, responseTimeoutMs);
    const startedMs = performance.now();
    try {
      return (await this.pool.query(query)).rows;
    } finally {
      query.completed();
      this.onStatement?.(this.name, (performance.now() - startedMs) / 1_000);
    }
  }
}

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];
/** PostgreSQL's numbers of `text[]` and `bigint[]`, whose values are texts. */
const ARRAYS: readonly number[] = [1009, 1016];

/** The driver's readers of values, but for arrays without quotes: it reads these sign by sign. */
const WITH_PLAIN_ARRAYS: NonNullable<QueryConfig['types']> = {
  getTypeParser: ((oid: TypeId, format?: 'text' | 'binary') => {
    const usual = pg.types.getTypeParser(oid, format) as (text: string) => unknown;
    if (format === 'binary' || !ARRAYS.includes(oid)) return usual;
    return (text: string) => plainArray(text) ?? usual(text);
  }) as typeof pg.types.getTypeParser,
};

/** The schema has changed since the statement was prepared, so that its rows have other columns: `cached plan must not change result type`. */
function isStalePlan(error: unknown): boolean {
  const { code, routine } = Object(error) as { code?: unknown; routine?: unknown };
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}

/** Members of the driver that its types lack. */
interface DriverPool<Row> {
  query(query: DriverQuery): Promise<{ readonly rows: Row[] }>;
}
interface DriverQuery {
  submit(connection: { readonly stream: Socket }): Error | null;
}
const DriverQuery = pg.Query as unknown as new (config: QueryConfig) => DriverQuery;

/**
 * A query that closes its connection when there is no response in time. The driver's own `query_timeout` does that too,
 * but V8 would keep each statement with all its values until a full collection (ADR 0007).
 */
class BoundedQuery extends DriverQuery {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    config: QueryConfig,
    private readonly timeoutMs: number,
  ) {
    super(config);
  }

  override submit(connection: { readonly stream: Socket }): Error | null {
    this.timer = setTimeout(breakOff, this.timeoutMs, connection.stream);
    return super.submit(connection);
  }

  /** Ends the wait. */
  completed(): void {
    clearTimeout(this.timer);
  }
}

function breakOff(stream: Socket): void {
  const silence = new Error('The database did not answer a statement in time');
  stream.destroy(Object.assign(silence, { code: 'ETIMEDOUT' }));
}
