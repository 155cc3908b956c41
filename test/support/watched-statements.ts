import type { DataSource } from 'typeorm';

type Query = (asked: { readonly name?: string }, ...rest: unknown[]) => unknown;

/** Calls `before` with the name of every prepared statement while `work` runs. If `before` throws, the statement fails with that error. */
export async function withWatchedStatements(
  dataSource: DataSource,
  before: (name: string | undefined) => void,
  work: () => Promise<void>,
): Promise<void> {
  const pool = (dataSource.driver as unknown as { master: { query: Query } }).master;
  const { query } = pool;
  const watched: Query = (asked, ...rest) => {
    before(asked.name);
    return query.call(pool, asked, ...rest);
  };
  Object.assign(pool, { query: watched });
  try {
    await work();
  } finally {
    Object.assign(pool, { query });
  }
}
