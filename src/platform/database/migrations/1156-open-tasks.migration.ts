import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Submissions bound how many tasks of a kind an account has open. Version 0.1.0 calls another function, which stays. */
export class OpenTasks1700000001156 implements SchemaMigration {
  readonly name = 'OpenTasks1700000001156';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    // It gets a parameter; the file of the functions makes it anew, in the same transaction.
    await runner.query('DROP FUNCTION IF EXISTS task_submit_v2');
  }

  async down(): Promise<void> {
    // Nothing to undo: the files of the functions are those of the version that runs.
  }
}
