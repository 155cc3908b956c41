import pg from 'pg';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { maintenanceConnectionOf } from './data-source.js';
import { applyChangedFiles, createSchema, grantTo, hasCurrentFiles } from './schema-files.js';
import { appliedMigrations, knownMigrations, rejectOtherVersions } from './schema-version.js';
import { SESSION_SETTINGS } from './session-settings.js';

/** The number of the lock. No other program on the same database may use it. */
const ADVISORY_LOCK = 7_446_001;
/** A migration that waits for a table lock blocks everybody after it, so it stops waiting early. */
const TABLE_LOCK_TIMEOUT_MS = 30_000;

/**
 * Makes the schema of an empty database, or applies the pending migrations and then the schema files that have changed, in one
 * transaction, all or none; returns their names. Replicas that start together wait for each other. With `runAs` that role gets the
 * rights that the gateway needs. Throws `SchemaTooNewError` when the database has a migration that this code does not know, and
 * `SchemaTooOldError` when it has too few.
 */
export async function runMigrations(dataSource: DataSource, runAs?: string): Promise<string[]> {
  if (runAs === undefined && (await isMigrated(dataSource))) return [];
  const patient = maintenanceConnectionOf(dataSource);
  await patient.initialize();
  try {
    const queryRunner = patient.createQueryRunner();
    await queryRunner.startTransaction();
    await queryRunner.query(SESSION_SETTINGS.patience);
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await queryRunner.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
    const applied = await migrate(patient, queryRunner);
    if (runAs !== undefined) await grantTo(queryRunner, pg.escapeIdentifier(runAs));
    await queryRunner.commitTransaction();
    return applied;
  } finally {
    // If there was no commit, the end of the session rolls back.
    await patient.destroy();
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
  return [...migrations.map(({ name }) => name), ...(await applyChangedFiles(queryRunner))];
}

/** Whether there is nothing to do, which most starts find by a few reads. */
async function isMigrated(dataSource: DataSource): Promise<boolean> {
  if (!dataSource.isInitialized) return false;
  const runner = dataSource.createQueryRunner();
  try {
    const applied = (await appliedMigrations(runner)) ?? [];
    const names = knownMigrations(dataSource);
    const isKnown = ({ name }: { readonly name: string }) => names.includes(name);
    if (applied.length !== names.length || !applied.every(isKnown)) return false;
    return await hasCurrentFiles(runner);
  } finally {
    await runner.release();
  }
}
