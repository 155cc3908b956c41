import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** An erasure leaves a mark, by which what had begun before is not stored. Version 0.1.0 stores no responses. */
export class ErasedContent1700000001176 implements SchemaMigration {
  readonly name = 'ErasedContent1700000001176';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE stored_content ADD COLUMN erased_at timestamptz');
    // It gets an answer; the file of the functions makes it anew, in the same transaction.
    await runner.query('DROP FUNCTION IF EXISTS response_store');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE stored_content DROP COLUMN erased_at');
  }
}
