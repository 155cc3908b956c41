import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

const STATEMENTS: readonly string[] = [
  `COMMENT ON TABLE key_spend_carried IS 'Calls and tasks that were open when their key was rotated, and tasks that were delivered late after it. Their ends also change what the successor (api_key_id) took over.'`,
  `DROP TRIGGER task_spends ON task`,
  `CREATE TRIGGER task_spends AFTER UPDATE ON task
  FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL OR OLD.status IN ('succeeded', 'failed', 'expired'))
  EXECUTE FUNCTION task_note_spend()`,
];

/** A task that is delivered late counts for the successors of its key, also where the key had no limit. */
export class LateDeliveries1700000001052 implements SchemaMigration {
  readonly name = 'LateDeliveries1700000001052';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TRIGGER task_spends ON task`);
    await runner.query(
      `CREATE TRIGGER task_spends AFTER UPDATE ON task
         FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL OR OLD.status = 'succeeded') EXECUTE FUNCTION task_note_spend()`,
    );
  }
}
