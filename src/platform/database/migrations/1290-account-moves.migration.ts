import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * Accounts move between cells. Version 0.1.0 moves none; it cannot open one that has moved, because the constraint of the account
 * refuses it.
 */
export class AccountMoves1700000001290 implements SchemaMigration {
  readonly name = 'AccountMoves1700000001290';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(
      new Error('An account that has moved could spend again: restore a backup'),
    );
  }
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE account ADD COLUMN leaving bigint,
     ADD CONSTRAINT account_that_leaves_rests CHECK (leaving IS NULL OR (disabled AND held = 0 AND posted = leaving))`,
  `CREATE TABLE cell_identity (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id uuid NOT NULL DEFAULT gen_random_uuid()
)`,
  `CREATE TABLE account_move (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  direction text NOT NULL CHECK (direction IN ('out', 'in')),
  cell text NOT NULL,
  receipt_key text NOT NULL,
  actor text NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT now(),
  outcome text CHECK (outcome IN ('imported', 'refused')),
  ended_at timestamptz,
  CHECK ((outcome IS NULL) = (ended_at IS NULL)),
  CHECK (direction = 'out' OR outcome IS NOT NULL)
)`,
  'CREATE INDEX account_move_of_account ON account_move (account_id, begun_at)',
  'CREATE UNIQUE INDEX account_move_one_at_a_time ON account_move (account_id) WHERE outcome IS NULL',
  `CREATE OR REPLACE FUNCTION ledger_entry_refuse_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM account a JOIN account_move m ON m.account_id = a.id AND m.direction = 'out' AND m.outcome = 'imported'
     WHERE a.id = OLD.account_id AND a.leaving IS NOT NULL
       AND NOT EXISTS (SELECT FROM account_move o WHERE o.account_id = a.id AND o.outcome IS NULL)
  ) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$`,
  'DROP TRIGGER ledger_entry_append_only ON ledger_entry',
  `CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR TRUNCATE ON ledger_entry
     FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change()`,
  `CREATE TRIGGER ledger_entry_kept BEFORE DELETE ON ledger_entry
     FOR EACH ROW EXECUTE FUNCTION ledger_entry_refuse_deletion()`,
  'DROP TRIGGER ledger_entry_source_append_only ON ledger_entry_source',
  `CREATE TRIGGER ledger_entry_source_append_only BEFORE UPDATE OR TRUNCATE ON ledger_entry_source
     FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change()`,
  `CREATE TRIGGER ledger_entry_source_kept BEFORE DELETE ON ledger_entry_source
     FOR EACH ROW EXECUTE FUNCTION ledger_entry_refuse_deletion()`,
];
