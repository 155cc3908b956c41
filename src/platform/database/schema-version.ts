import type { DataSource, QueryRunner } from 'typeorm';
import { GATEWAY_VERSION } from '../../common/version.js';
import { MIGRATION_TABLE } from './data-source.js';
import type { SchemaMigration } from './schema-migration.js';
import { Baseline1700000001000 } from './migrations/1000-baseline.migration.js';

/** The table of the oldest version that may run on the schema after each migration. */
const TERMS = 'schema_migration';
/** The migrations of version 0.1.0: how many there were, and the time in the name of the last one. */
const FORMER = { count: 70, last: 1_700_000_000_490 } as const;

/** The database was migrated by a newer version of the gateway, on whose schema this version may not run. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError';

  constructor(unknown: readonly AppliedMigration[]) {
    const told = unknown.map(({ name, oldest }) =>
      oldest === null ? name : `${name}, which needs version ${oldest} or later`,
    );
    super(
      `The database was migrated by a newer version of the gateway (it has ${told.join('; ')}). Run that version, or restore a backup.`,
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
  /** The oldest version of the gateway that may run on the schema after it; null where it was not said. */
  readonly oldest: string | null;
}

/** The names of all migrations that this version has. */
export const knownMigrations = (dataSource: DataSource): string[] =>
  dataSource.migrations.map((migration) => migration.constructor.name);

/** Whether a version is newer than this one. */
export function isNewerVersion(version: string): boolean {
  const theirs = partsOfVersion(version);
  const ours = partsOfVersion(GATEWAY_VERSION);
  const at = theirs.findIndex((part, index) => part !== ours[index]);
  return at >= 0 && (theirs[at] ?? 0) > (ours[at] ?? 0);
}

const partsOfVersion = (version: string): number[] =>
  version.split('.').map((part) => Number.parseInt(part, 10));

/** Those that the database has, oldest first; undefined for a database without a schema. */
export async function appliedMigrations(
  runner: QueryRunner,
): Promise<AppliedMigration[] | undefined> {
  if (!(await runner.hasTable(MIGRATION_TABLE))) return undefined;
  const oldest = (await runner.hasTable(TERMS))
    ? `(SELECT t.oldest_version FROM ${TERMS} t WHERE t.name = m.name)`
    : 'NULL';
  const rows: unknown = await runner.query(
    `SELECT m.name, m.timestamp::text, ${oldest} AS oldest FROM ${MIGRATION_TABLE} m ORDER BY m.timestamp`,
  );
  return rows as AppliedMigration[];
}

/** Keeps in the database which versions may run on the schema after each migration, for processes that do not know it. */
export async function keepOldestVersions(
  runner: QueryRunner,
  dataSource: DataSource,
): Promise<void> {
  const migrations = dataSource.migrations as Partial<SchemaMigration>[];
  const terms = migrations.map((each) => [each.constructor.name, each.oldestVersion ?? null]);
  await runner.query(
    `INSERT INTO ${TERMS} (name, oldest_version)
       SELECT * FROM jsonb_to_recordset($1) t (name text, oldest text) WHERE oldest IS NOT NULL
       ON CONFLICT (name) DO NOTHING`,
    [JSON.stringify(terms.map(([name, oldest]) => ({ name, oldest })))],
  );
}

/** Throws {@link SchemaTooNewError} or {@link SchemaTooOldError} where this version can neither migrate the database nor run on it. */
export function rejectOtherVersions(
  applied: readonly AppliedMigration[],
  known: readonly string[],
): void {
  const isAdopted = applied.some(({ name }) => name === Baseline1700000001000.name);
  const isFormer = ({ timestamp }: AppliedMigration) => Number(timestamp) <= FORMER.last;
  const unknown = applied.filter(
    (migration) => !known.includes(migration.name) && (isAdopted || !isFormer(migration)),
  );
  const tooNew = unknown.filter(({ oldest }) => oldest === null || isNewerVersion(oldest));
  if (tooNew.length > 0) throw new SchemaTooNewError(tooNew);
  const last = applied.at(-1);
  if (isAdopted || last === undefined) return;
  if (applied.length < FORMER.count || Number(last.timestamp) < FORMER.last) {
    throw new SchemaTooOldError(last.name);
  }
}
