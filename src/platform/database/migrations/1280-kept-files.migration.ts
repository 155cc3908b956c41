import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Kept answers whose body is in a stored file. Version 0.1.0 keeps no answers and reads none. */
export class KeptFiles1700000001280 implements SchemaMigration {
  readonly name = 'KeptFiles1700000001280';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE kept_answer ADD COLUMN file_id uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    // Without the column the key of a file would be read as an answer.
    await runner.query(`
      WITH gone AS (DELETE FROM kept_answer WHERE file_id IS NOT NULL RETURNING account_id, bytes)
      UPDATE stored_content s SET kept_bytes = s.kept_bytes - g.bytes
        FROM (SELECT account_id, sum(bytes) AS bytes FROM gone GROUP BY 1) g WHERE s.account_id = g.account_id`);
    await runner.query('ALTER TABLE kept_answer DROP COLUMN file_id');
  }
}
