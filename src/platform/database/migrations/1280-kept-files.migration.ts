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
    await runner.query('ALTER TABLE kept_answer DROP COLUMN file_id');
  }
}
