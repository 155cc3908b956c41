import type { DataSource } from 'typeorm';

type Query = (asked: { readonly name?: string }, ...rest: unknown[]) => unknown;

/** Calls `before` with the name of every prepared statement while `work` runs. If `before` throws, the statement fails with that error. */
export function withWatchedStatements(
  dataSource: DataSource,
  before: (name: string | undefined) => void,
  work: () => Promise<void>,
): Promise<void> {
  return withStatements(
    dataSource,
    (name, run) => {
      before(name);
      return run();
    },
    work,
  );
}

/**
 * As if the process died where it asks for a prepared statement: before the database gets it, or after it is committed and before
 * the answer is read. From then on, until `work` ends, no prepared statement is run.
 */
export function withDeathAt(
  dataSource: DataSource,
  at: { readonly name: string; readonly moment: 'before' | 'after' },
  work: () => Promise<void>,
): Promise<void> {
  let isDead = false;
  const die = (): never => {
    isDead = true;
    throw new Error('the process is dead');
  };
  const answer = (name: string | undefined, run: () => unknown): unknown => {
    if (isDead) return die();
    if (name !== at.name) return run();
    return at.moment === 'before' ? die() : Promise.resolve(run()).then(die);
  };
  return withStatements(dataSource, answer, work);
}

async function withStatements(
  dataSource: DataSource,
  answer: (name: string | undefined, run: () => unknown) => unknown,
  work: () => Promise<void>,
): Promise<void> {
  const pool = (dataSource.driver as unknown as { master: { query: Query } }).master;
  const { query } = pool;
  const watched: Query = (asked, ...rest) =>
    answer(asked.name, () => query.call(pool, asked, ...rest));
  Object.assign(pool, { query: watched });
  try {
    await work();
  } finally {
    Object.assign(pool, { query });
  }
}
