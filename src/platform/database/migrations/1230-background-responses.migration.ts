import type { QueryRunner } from 'typeorm';
import { createLateIndex, type SchemaMigration } from '../schema-migration.js';

/**
 * Each process says its version with its lease, so that no response is taken in the background beside one of version 0.1.0, which
 * does not know such tasks. It says none: it calls the former function, which stays.
 *
 * The open responses of an account are counted without a look at its other tasks. Their index may have been built before.
 */
export class BackgroundResponses1700000001230 implements SchemaMigration {
  readonly name = 'BackgroundResponses1700000001230';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    const on = `task (account_id) WHERE kind = 'response' AND status IN ('queued', 'processing')`;
    await createLateIndex(runner, 'task_open_responses', on);
    // Last, because it stops the beats of all processes until the end of the transaction.
    await runner.query('ALTER TABLE gateway_process ADD COLUMN version text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX task_open_responses');
    await runner.query('ALTER TABLE gateway_process DROP COLUMN version');
  }
}
