import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** The record of operators' actions keeps what changed. Processes of version 0.1.0 leave the columns empty. */
export class OperatorValues1700000001010 implements SchemaMigration {
  readonly name = 'OperatorValues1700000001010';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE operator_outcome ADD COLUMN IF NOT EXISTS values_before json, ADD COLUMN IF NOT EXISTS values_after json',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE operator_outcome DROP COLUMN values_before, DROP COLUMN values_after',
    );
  }
}
