import type { DataSource, QueryRunner } from 'typeorm';
import { MIGRATION_TABLE } from './data-source.js';
import { Baseline1700000001000 } from './migrations/1000-baseline.migration.js';

/** The migrations of version 0.1.0: how many there were, and the time in the name of the last one. */
const FORMER = { count: 70, last: 1_700_000_000_490 } as const;

/** The database was migrated by a newer version of the gateway. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError';

  constructor(unknownMigrations: readonly string[]) {
    super(
      `The database was migrated by a newer version of the gateway (it has ${unknownMigrations.join(', ')}). Run that version, or restore a backup.`,
    );
  }
}

/** The database was last migrated by a version before 0.1.0, whose migrations this version no longer has. */
export class SchemaTooOldError extends Error {
  override readonly name = 'SchemaTooOldError';

  constructor(lastMigration: string) {
    super(
      `The database is older than version 0.1.0 of the gateway (its last migration is ${lastMigration}). Start version 0.1.0 once on it, then this version; restore an older backup with version 0.1.0. See docs/operate/upgrade.md.`,
    );
  }
}

/** A row of TypeORM's own table of applied migrations. */
interface AppliedMigration {
  readonly name: string;
  /** In the name of the migration. */
  readonly timestamp: string;
}

/** The names of all migrations that this version has. */
export const knownMigrations = (dataSource: DataSource): string[] =>
  dataSource.migrations.map((migration) => migration.constructor.name);

/** Those that the database has, oldest first; undefined for a database without a schema. */
export async function appliedMigrations(
  runner: QueryRunner,
): Promise<AppliedMigration[] | undefined> {
  if (!(await runner.hasTable(MIGRATION_TABLE))) return undefined;
  const rows: unknown = await runner.query(
    `SELECT name, timestamp::text FROM ${MIGRATION_TABLE} ORDER BY timestamp`,
  );
  return rows as AppliedMigration[];
}

/** Throws {@link SchemaTooNewError} or {@link SchemaTooOldError} where this version cannot migrate the database. */
export function rejectOtherVersions(
  applied: readonly AppliedMigration[],
  known: readonly string[],
): void {
  const isAdopted = applied.some(({ name }) => name === Baseline1700000001000.name);
  const isFormer = ({ timestamp }: AppliedMigration) => Number(timestamp) <= FORMER.last;
  const unknown = applied.filter(
    (migration) => !known.includes(migration.name) && (isAdopted || !isFormer(migration)),
  );
  if (unknown.length > 0) throw new SchemaTooNewError(unknown.map(({ name }) => name));
  const last = applied.at(-1);
  if (isAdopted || last === undefined) return;
  if (applied.length < FORMER.count || Number(last.timestamp) < FORMER.last) {
    throw new SchemaTooOldError(last.name);
  }
}
