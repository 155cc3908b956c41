import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One change of the schema. */
export interface SchemaMigration extends MigrationInterface {
  readonly name: string;
  /** The oldest version of the gateway whose processes may run, and start, on the schema after it, such as `0.1.0`. */
  readonly oldestVersion: string;
}

/**
 * Creates an index that an operator may have built before with `CREATE INDEX CONCURRENTLY`, so that no lock is needed. Such a build
 * leaves an invalid index where it was interrupted, which no query uses: it is dropped first. `on` is the table, the columns and the
 * condition.
 */
export async function createLateIndex(
  runner: QueryRunner,
  name: string,
  on: string,
): Promise<void> {
  const invalid = (await runner.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
    [name],
  )) as unknown[];
  if (invalid.length > 0) await runner.query(`DROP INDEX ${name}`);
  await runner.query(`CREATE INDEX IF NOT EXISTS ${name} ON ${on}`);
}
