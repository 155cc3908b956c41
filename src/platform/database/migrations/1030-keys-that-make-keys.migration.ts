import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

const STATEMENTS: readonly string[] = [
  `ALTER TABLE api_key
     ADD COLUMN scopes text[] NOT NULL DEFAULT '{read,call}'
       CHECK (scopes <@ '{read,call,manage}' AND cardinality(scopes) > 0),
     ADD COLUMN maker_id uuid,
     ADD CONSTRAINT api_key_made_makes_none CHECK (maker_id IS NULL OR NOT 'manage' = ANY (scopes))`,
  `CREATE INDEX api_key_of_maker ON api_key (maker_id, id) WHERE maker_id IS NOT NULL`,
  `COMMENT ON COLUMN api_key.scopes IS 'What the key may do (decision G-109).'`,
  `COMMENT ON COLUMN api_key.maker_id IS 'The key that made it, or that key''s successor; null: an operator did. It ends with its maker, and what it spends counts for its maker too.'`,
  `ALTER TABLE execution ADD COLUMN maker_counted_at timestamptz`,
  `ALTER TABLE task ADD COLUMN maker_counted_at timestamptz`,
  `COMMENT ON COLUMN execution.maker_counted_at IS 'When the call of a key that another key made was counted for its maker; null: the key has none.'`,
  `COMMENT ON COLUMN task.maker_counted_at IS 'When the task of a key that another key made was counted for its maker; null: the key has none.'`,
  `CREATE TABLE maker_spend (
     account_id uuid NOT NULL,
     api_key_id uuid NOT NULL,
     day_start timestamptz NOT NULL,
     day_spent bigint NOT NULL,
     month_start timestamptz NOT NULL,
     month_spent bigint NOT NULL,
     total_spent bigint NOT NULL,
     PRIMARY KEY (account_id, api_key_id)
   ) WITH (fillfactor = 50)`,
  `COMMENT ON TABLE maker_spend IS 'What the keys that a key made spent and hold, in the newest day and month in which one of them began a call or task, and in all. It counts from the first call on, whether or not the maker (api_key_id) has a limit.'`,
  // The file of the functions gives them their bodies, in the same transaction.
  `CREATE FUNCTION execution_note_for_maker() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
  `CREATE FUNCTION task_note_for_maker() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
  `CREATE TRIGGER execution_spends_for_maker AFTER UPDATE ON execution
     FOR EACH ROW WHEN (NEW.maker_counted_at IS NOT NULL) EXECUTE FUNCTION execution_note_for_maker()`,
  `CREATE TRIGGER task_spends_for_maker AFTER UPDATE ON task
     FOR EACH ROW WHEN (NEW.maker_counted_at IS NOT NULL) EXECUTE FUNCTION task_note_for_maker()`,
];

/** Keys have scopes and may have been made by another key, for which what they spend counts too. */
export class KeysThatMakeKeys1700000001030 implements SchemaMigration {
  readonly name = 'KeysThatMakeKeys1700000001030';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Limits count by the columns: restore a backup'));
  }
}
