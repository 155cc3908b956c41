import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Operators give the charge of a task back, once, as they do for calls since 0162. */
export class TaskRefunds1700000000353 implements MigrationInterface {
  readonly name = 'TaskRefunds1700000000353';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE task ADD COLUMN refunded bigint CHECK (refunded BETWEEN 1 AND charged);`,
    );
    await runner.query(REFUND);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Refunds fit no older table: restore a backup'));
  }
}

/**
 * Gives the charge of a task back as a correction linked to it. Outcomes: refunded, repeated (it was done before, or an error
 * gave it back), uncharged, missing (no such task of the account). `entry` is the position of the entry, null unless refunded.
 * As wherever a task ends, the task is locked before its account.
 */
const REFUND = `
  CREATE FUNCTION task_refund(p_account uuid, p_id uuid, p_note text, OUT outcome text, OUT entry bigint)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    balance bigint;
    known task;
  BEGIN
    SELECT * INTO known FROM task WHERE account_id = p_account AND id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      outcome := 'missing';
      RETURN;
    ELSIF coalesce(known.charged, 0) = 0 THEN
      outcome := 'uncharged';
      RETURN;
    END IF;
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    PERFORM FROM ledger_entry
      WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL;
    IF FOUND THEN
      outcome := 'repeated';
      RETURN;
    END IF;
    UPDATE task SET refunded = charged WHERE account_id = p_account AND id = p_id;
    UPDATE account SET posted = posted + known.charged WHERE id = p_account;
    INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
      VALUES (p_account, p_id, 'correction', known.charged, balance + known.charged, p_note)
      RETURNING position INTO entry;
    outcome := 'refunded';
  END $$;`;
