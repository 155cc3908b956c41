import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is given back of a task's charge is subtracted from the sums of its key, model and endpoint, as for calls. */
export class UsageOfUndoneTasks1700000000196 implements MigrationInterface {
  readonly name = 'UsageOfUndoneTasks1700000000196';

  async up(runner: QueryRunner): Promise<void> {
    // Looked up one by one, because no plan may read all calls.
    await runner.query(`
      CREATE OR REPLACE VIEW usage_given_back AS
        SELECT l.account_id, l.created_at, coalesce(c.api_key_id, '00000000-0000-0000-0000-000000000000') AS api_key_id,
               coalesce(c.model, '') AS model, coalesce(c.endpoint, '') AS endpoint, -l.amount AS charged
          FROM ledger_entry l
          LEFT JOIN LATERAL (
            SELECT u.api_key_id, u.model, u.endpoint FROM usage_call u
             WHERE u.account_id = l.account_id AND u.id = l.hold_id OFFSET 0) c ON true
         WHERE l.kind = 'correction' AND l.hold_id IS NOT NULL`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The view before this one is gone: restore a backup'));
  }
}
