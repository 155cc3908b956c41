import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** The record of a call keeps its attempts at providers. Version 0.1.0 writes none. */
export class Attempts1700000001150 implements SchemaMigration {
  readonly name = 'Attempts1700000001150';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE execution ADD COLUMN attempts jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE execution DROP COLUMN attempts');
  }
}
