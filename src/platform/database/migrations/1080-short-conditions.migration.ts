import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * The conditions of the triggers on tables that each call writes are shorter; their functions look closer. PostgreSQL reads each
 * condition anew in every statement. Nothing runs before an update of `execution`, because its row was locked for that, with an
 * entry in the log for each call.
 */
export class ShortConditions1700000001080 implements SchemaMigration {
  readonly name = 'ShortConditions1700000001080';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, table, definition] of TRIGGERS) {
      await runner.query(`DROP TRIGGER ${name} ON ${table}`);
      await runner.query(`CREATE TRIGGER ${name} ${definition}`);
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The former conditions are gone: restore a backup'));
  }
}

const finalCost = (table: string): string =>
  `AFTER UPDATE OF cost ON ${table} FOR EACH ROW WHEN (OLD.cost IS NOT NULL) EXECUTE FUNCTION cost_refuse_change()`;

const TRIGGERS: readonly (readonly [name: string, table: string, definition: string])[] = [
  ['execution_cost_is_final', 'execution', finalCost('execution')],
  ['task_cost_is_final', 'task', finalCost('task')],
  [
    'execution_spends',
    'execution',
    `AFTER UPDATE ON execution
     FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL OR OLD.charged IS NOT NULL) EXECUTE FUNCTION execution_note_spend()`,
  ],
  [
    'account_follows_lots',
    'account',
    `BEFORE UPDATE OF posted ON account
     FOR EACH ROW WHEN (NEW.in_lots IS NOT NULL AND NEW.posted <> OLD.posted) EXECUTE FUNCTION account_follow_lots()`,
  ],
  [
    'account_low',
    'account',
    `BEFORE UPDATE ON account
     FOR EACH ROW WHEN (NEW.low_balance IS NOT NULL) EXECUTE FUNCTION account_tell_low()`,
  ],
  [
    'run_begins',
    'run',
    `AFTER INSERT ON run
     FOR EACH ROW WHEN (NEW.held >= NEW.spend_limit / 5 * 4) EXECUTE FUNCTION run_tell_limit()`,
  ],
  [
    'run_grows',
    'run',
    `AFTER UPDATE ON run
     FOR EACH ROW WHEN (NEW.spent + NEW.held >= NEW.spend_limit / 5 * 4) EXECUTE FUNCTION run_tell_limit()`,
  ],
];
