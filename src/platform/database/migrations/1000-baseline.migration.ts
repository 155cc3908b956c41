import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * The schema of version 0.1.0. A new database is made from the schema files and has this from the start; a database of version 0.1.0 is
 * taken over here: its tables are already what the files make. It loses the functions that no code of version 0.1.0 calls and
 * the names of the migrations that made it.
 */
export class Baseline1700000001000 implements SchemaMigration {
  readonly name = 'Baseline1700000001000';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UNUSED);
    await runner.query(SCHEMA_FILE);
    await runner.query(FORMER_NAMES);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('There is no schema before this one: restore a backup'));
  }
}

const TASK =
  'uuid, uuid, uuid, text, text, text, text, text, json, text, text, boolean, text, text';
const UNUSED = `
  DROP FUNCTION execution_refund, execution_step_capped, execution_step, execution_sweep, task_claim, task_claim_whole, task_refund,
    task_submit_capped(${TASK}, bigint, text, text, text, text, uuid), task_submit(${TASK}, bigint, text, text, text, text, uuid),
    webhook_claim(timestamptz, integer, integer, integer, text[], integer[], integer, uuid[], integer[]),
    webhook_record(
      uuid[], uuid[], integer[], timestamptz[], integer[], text[], integer[], text[], integer[], timestamptz[])`;

const SCHEMA_FILE = `
  CREATE TABLE schema_file (
    name text PRIMARY KEY,
    checksum text NOT NULL,
    version text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/** The name of this one is written once it has run. */
const FORMER_NAMES = 'DELETE FROM migration';
