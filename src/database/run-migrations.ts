import pg from 'pg';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { MIGRATION_TABLE } from './data-source.js';
import { patientCopyOf } from './patient-copy.js';
import { SESSION_SETTINGS } from './session-settings.js';

/** The number of the lock. No other program on the same database may use it. */
const ADVISORY_LOCK = 7_446_001;
/** A migration that waits for a table lock blocks everybody after it, so it stops waiting early. */
const TABLE_LOCK_TIMEOUT_MS = 30_000;

/** The database was migrated by a newer version of the gateway. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError';

  constructor(unknownMigrations: readonly string[]) {
    super(
      `The database was migrated by a newer version of the gateway (it has ${unknownMigrations.join(', ')}). Run that version, or restore a backup.`,
    );
  }
}

/**
 * The rights that a role needs to run the gateway. The owner has more: to change tables and triggers, to change the
 * entries, and to delete holds.
 */
const grantsTo = (role: string) => `
  GRANT USAGE ON SCHEMA public TO ${role};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
  REVOKE INSERT, UPDATE, DELETE ON ${MIGRATION_TABLE} FROM ${role};
  REVOKE UPDATE, DELETE ON ledger_entry, operator_action, operator_outcome FROM ${role};
  REVOKE INSERT, UPDATE, DELETE ON dropped_record, record_retention, late_reversal, late_charge FROM ${role};
  REVOKE DELETE ON account, hold, execution FROM ${role};`;

/**
 * The functions of the gateway are planned without JIT, whatever a session says: one of a pooler may lack its settings. Those of
 * triggers run inside of the others.
 */
const WITHOUT_JIT = `
  DO $$ DECLARE f regprocedure; BEGIN
    FOR f IN
      SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
       WHERE l.lanname = 'plpgsql' AND p.prorettype <> 'trigger'::regtype AND NOT coalesce(p.proconfig, '{}') @> '{jit=off}'
         AND p.pronamespace = current_schema()::regnamespace AND p.proowner = current_user::regrole
         AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP
      EXECUTE format('ALTER FUNCTION %s SET jit = off', f);
    END LOOP;
  END $$`;

/**
 * Applies the pending migrations in one transaction, all or none; returns their names. Replicas that start together
 * wait for each other. With `runAs` that role gets the rights that the gateway needs. Throws {@link SchemaTooNewError}
 * when the database has a migration that this code does not know.
 */
export async function runMigrations(dataSource: DataSource, runAs?: string): Promise<string[]> {
  if (runAs === undefined && (await isMigrated(dataSource))) return [];
  const patient = patientCopyOf(dataSource);
  await patient.initialize();
  try {
    const queryRunner = patient.createQueryRunner();
    await queryRunner.startTransaction();
    await queryRunner.query(SESSION_SETTINGS.patience);
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await queryRunner.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
    await refuseNewerSchema(patient, queryRunner);
    const applied = await new MigrationExecutor(patient, queryRunner).executePendingMigrations();
    if (applied.length > 0) await queryRunner.query(WITHOUT_JIT);
    if (runAs !== undefined) await queryRunner.query(grantsTo(pg.escapeIdentifier(runAs)));
    await queryRunner.commitTransaction();
    return applied.map((migration) => migration.name);
  } finally {
    // If there was no commit, the end of the session rolls back.
    await patient.destroy();
  }
}

/** Whether there is nothing to do, which most starts find by one statement. */
async function isMigrated(dataSource: DataSource): Promise<boolean> {
  if (!dataSource.isInitialized) return false;
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable(MIGRATION_TABLE))) return false;
    const applied = await appliedMigrations(runner);
    const known = namesOf(dataSource);
    return applied.length === known.length && applied.every((name) => known.includes(name));
  } finally {
    await runner.release();
  }
}

const namesOf = (dataSource: DataSource): string[] =>
  dataSource.migrations.map((migration) => migration.constructor.name);

async function appliedMigrations(runner: QueryRunner): Promise<string[]> {
  const rows = (await runner.query(`SELECT name FROM ${MIGRATION_TABLE} ORDER BY id`)) as {
    name: string;
  }[];
  return rows.map((row) => row.name);
}

async function refuseNewerSchema(dataSource: DataSource, queryRunner: QueryRunner): Promise<void> {
  if (!(await queryRunner.hasTable(MIGRATION_TABLE))) return;
  const known = namesOf(dataSource);
  const applied = await appliedMigrations(queryRunner);
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new SchemaTooNewError(unknown);
}
