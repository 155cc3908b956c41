import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

const RUNS = `
CREATE TABLE run (
  account_id uuid NOT NULL,
  id text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  spend_limit bigint CHECK (spend_limit >= 0),
  spent bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL,
  calls bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  dropped_calls bigint NOT NULL DEFAULT 0,
  dropped_spent bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITH (fillfactor = 50);
CREATE INDEX run_of_account ON run (account_id, position);
CREATE INDEX run_by_time ON run USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
`;

/** Calls and tasks name their run, which has counters. Processes of version 0.1.0 leave the columns empty. */
export class Runs1700000001040 implements SchemaMigration {
  readonly name = 'Runs1700000001040';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RUNS);
    await runner.query('ALTER TABLE execution ADD COLUMN run text');
    await runner.query('ALTER TABLE task ADD COLUMN run text');
    await runner.query('SET LOCAL check_function_bodies = off');
    await runner.query(
      `CREATE FUNCTION task_note_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
    );
    await runner.query(
      `CREATE TRIGGER task_counts_in_run AFTER UPDATE ON task
         FOR EACH ROW WHEN (OLD.run IS NOT NULL) EXECUTE FUNCTION task_note_run()`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER task_counts_in_run ON task');
    await runner.query('DROP FUNCTION task_note_run');
    await runner.query('ALTER TABLE task DROP COLUMN run');
    await runner.query('ALTER TABLE execution DROP COLUMN run');
    await runner.query('DROP TABLE run');
  }
}
