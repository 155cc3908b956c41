import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * The open responses of an account are counted without a look at its other tasks. The index may have been built before, so that
 * no lock is needed.
 */
export class OpenResponses1700000001231 implements SchemaMigration {
  readonly name = 'OpenResponses1700000001231';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX IF NOT EXISTS task_open_responses ON task (account_id)
         WHERE kind = 'response' AND status IN ('queued', 'processing')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX task_open_responses');
  }
}
