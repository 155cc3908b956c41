import pg from 'pg';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { maintenanceConnectionOf } from './data-source.js';
import { applyChangedFiles, createSchema, grantsOf, pendingFiles } from './schema-files.js';
import {
  appliedMigrations,
  keepOldestVersions,
  knownMigrations,
  rejectOtherVersions,
} from './schema-version.js';
import { SESSION_SETTINGS } from './session-settings.js';

/** The number of the lock. No other program on the same database may use it. */
export const SCHEMA_LOCK = 7_446_001;
/** A migration that waits for a table lock blocks everybody after it, so it stops waiting early. */
const TABLE_LOCK_TIMEOUT_MS = 30_000;

/** How {@link runMigrations} runs. */
export interface MigrationTerms {
  /** This role gets the rights that the gateway needs. */
  readonly runAs?: string | undefined;
  /** This role gets the rights to read what is no secret. */
  readonly readAs?: string | undefined;
  /** Everything is tried and rolled back. */
  readonly isTrial?: boolean;
}

/** What a database lacks of the schema of this code. */
export interface PendingChanges {
  /** It has no schema at all. */
  readonly isEmpty: boolean;
  /** Names of migrations and schema files, in the order in which they would run. */
  readonly names: readonly string[];
}

/**
 * Makes the schema of an empty database, or applies the pending migrations and then the schema files that have changed, in one
 * transaction, all or none; returns their names. Replicas that start together wait for each other. A database with migrations
 * that this code does not know is left as it is where they say that this version may run on it. Throws `SchemaTooNewError` where
 * it may not, and `SchemaTooOldError` where the database has too few migrations.
 */
export async function runMigrations(
  dataSource: DataSource,
  { runAs, readAs, isTrial = false }: MigrationTerms = {},
): Promise<string[]> {
  if (runAs === undefined && readAs === undefined && (await isMigrated(dataSource))) return [];
  const patient = maintenanceConnectionOf(dataSource);
  await patient.initialize();
  try {
    const queryRunner = patient.createQueryRunner();
    await queryRunner.startTransaction();
    await queryRunner.query(SESSION_SETTINGS.patience);
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await queryRunner.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
    const applied = await migrate(patient, queryRunner);
    for (const [kind, role] of Object.entries({ gateway: runAs, reader: readAs })) {
      if (role === undefined) continue;
      const name = pg.escapeIdentifier(role);
      await queryRunner.query(grantsOf(kind as 'gateway' | 'reader', name));
    }
    if (!isTrial) await queryRunner.commitTransaction();
    return applied;
  } finally {
    // If there was no commit, the end of the session rolls back.
    await patient.destroy();
  }
}

/** What {@link runMigrations} would change. Throws as it does. */
export async function pendingChanges(dataSource: DataSource): Promise<PendingChanges> {
  const runner = dataSource.createQueryRunner();
  try {
    const applied = await appliedMigrations(runner);
    const known = knownMigrations(dataSource);
    if (applied !== undefined) rejectOtherVersions(applied, known);
    const has = new Set(applied?.map(({ name }) => name));
    const missing = known.filter((name) => !has.has(name));
    // In an empty database the files are run whole.
    if (applied === undefined) return { isEmpty: true, names: missing };
    return { isEmpty: false, names: [...missing, ...(await pendingFiles(runner))] };
  } finally {
    await runner.release();
  }
}

async function migrate(dataSource: DataSource, queryRunner: QueryRunner): Promise<string[]> {
  const known = await appliedMigrations(queryRunner);
  const executor = new MigrationExecutor(dataSource, queryRunner);
  if (known === undefined) {
    await createSchema(queryRunner);
    // The files are of today, so no migration is left to run.
    executor.fake = true;
  } else {
    rejectOtherVersions(known, knownMigrations(dataSource));
  }
  const migrations = await executor.executePendingMigrations();
  await keepOldestVersions(queryRunner, dataSource);
  return [...migrations.map(({ name }) => name), ...(await applyChangedFiles(queryRunner))];
}

/** Whether there is nothing to do, which most starts find by a few reads. */
async function isMigrated(dataSource: DataSource): Promise<boolean> {
  return dataSource.isInitialized && (await pendingChanges(dataSource)).names.length === 0;
}
