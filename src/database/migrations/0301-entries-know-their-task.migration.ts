import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The charge of a task says that it is one. Before, its hold was asked, and once that had been dropped with the task's record
 * (docs/adr/0016) the entry named an execution that never was.
 */
export class EntriesKnowTheirTask1700000000301 implements MigrationInterface {
  readonly name = 'EntriesKnowTheirTask1700000000301';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMN);
    await runner.query(RESOLVE);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The function before this one is gone: restore a backup'));
  }
}

/** `owner` is null for executions. Amounts and chains stay as they are. */
const COLUMN = `
  ALTER TABLE ledger_entry ADD COLUMN owner text;
  ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only;
  UPDATE ledger_entry e SET owner = h.owner
    FROM hold h WHERE h.account_id = e.account_id AND h.id = e.hold_id AND e.kind = 'charge';
  ALTER TABLE ledger_entry ENABLE TRIGGER ledger_entry_append_only;`;

/** As before (0050); the entry takes the owner of its hold. */
const RESOLVE = `
  CREATE OR REPLACE FUNCTION ledger_resolve(p_account uuid, p_id uuid, p_charge bigint) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    balance bigint;
    known hold;
  BEGIN
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'missing';
    END IF;
    SELECT * INTO known FROM hold WHERE account_id = p_account AND id = p_id;
    IF NOT FOUND AND p_charge IS NOT NULL THEN
      RETURN 'missing';
    ELSIF NOT FOUND THEN
      INSERT INTO hold (account_id, id, amount, state, owner, resolved_at)
        VALUES (p_account, p_id, 0, 'released', 'cancelled', now());
      RETURN 'done';
    ELSIF known.state <> 'open' THEN
      RETURN CASE WHEN known.settled_amount IS NOT DISTINCT FROM p_charge THEN 'done' ELSE 'conflict' END;
    ELSIF p_charge > known.amount THEN
      RETURN 'excess';
    END IF;
    UPDATE hold SET state = CASE WHEN p_charge IS NULL THEN 'released' ELSE 'settled' END,
                    settled_amount = p_charge, resolved_at = now()
     WHERE account_id = p_account AND id = p_id;
    UPDATE account SET held = held - known.amount, posted = posted - coalesce(p_charge, 0) WHERE id = p_account;
    IF p_charge > 0 THEN
      INSERT INTO ledger_entry (account_id, hold_id, owner, kind, amount, balance_after)
        VALUES (p_account, p_id, known.owner, 'charge', -p_charge, balance - p_charge);
    END IF;
    RETURN 'done';
  END $$;`;
