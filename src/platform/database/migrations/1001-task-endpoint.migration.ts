import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * A task names its endpoint. Rows that are there stay as they are, so this takes a moment however many there are: their
 * endpoint follows from their kind, as does that of tasks which processes of version 0.1.0 go on writing.
 */
export class TaskEndpoint1700000001001 implements SchemaMigration {
  readonly name = 'TaskEndpoint1700000001001';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN endpoint text');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Usage reads the column: restore a backup'));
  }
}
