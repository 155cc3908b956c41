import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The owed cancellation of a task that has not ended ends it as everything else does, with its webhook. Before, task_cancel
 * ended it: nothing was told, and an older webhook went on.
 */
export class OwedTasksAreTold1700000000332 implements MigrationInterface {
  readonly name = 'OwedTasksAreTold1700000000332';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(cancelTask(REFUSE_OPEN));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(cancelTask(END_OPEN));
  }
}

/** A process of the former version owes the cancellation on, until it ends and another one takes over what it owed. */
const REFUSE_OPEN = `
    RAISE EXCEPTION 'task % has not ended', p_id USING ERRCODE = 'serialization_failure';`;

const END_OPEN = `
    UPDATE task
       SET status = 'failed', sealed_input = NULL, error_code = 'task_cancelled',
           error_message = 'The task was cancelled: its submission was answered with an error.',
           completed_at = coalesce(completed_at, now())
     WHERE account_id = p_account AND id = p_id;
    DELETE FROM task_work WHERE account_id = p_account AND task_id = p_id;
    IF ledger_resolve(p_account, p_id, NULL) <> 'done' THEN
      RAISE EXCEPTION 'the hold of task % cannot be released', p_id;
    END IF;
    RETURN 'released';`;

/** Takes the id of a task that is missing, and gives back the charge of one that was dropped or has succeeded (0240). */
const cancelTask = (ofOpen: string): string => `
  CREATE OR REPLACE FUNCTION task_cancel(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    balance bigint;
    known task;
    outcome text;
  BEGIN
    PERFORM FROM task_work WHERE account_id = p_account AND task_id = p_id FOR UPDATE;
    SELECT * INTO known FROM task WHERE account_id = p_account AND id = p_id FOR UPDATE;
    IF NOT FOUND THEN
      PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
      IF NOT FOUND THEN
        RETURN 'missing';
      END IF;
      -- The account is locked now: whoever was submitting the task has done so, or finds its id taken.
      PERFORM FROM task WHERE account_id = p_account AND id = p_id;
      IF FOUND THEN
        RAISE EXCEPTION 'task % has just arrived', p_id USING ERRCODE = 'serialization_failure';
      END IF;
      outcome := record_give_back(p_account, p_id);
      IF outcome IS NULL THEN
        PERFORM ledger_resolve(p_account, p_id, NULL);
      END IF;
      RETURN coalesce(outcome, 'cancelled');
    ELSIF known.status IN ('failed', 'expired') THEN
      RETURN 'nothing';
    ELSIF known.status = 'succeeded' THEN
      SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
      PERFORM FROM ledger_entry WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction';
      IF FOUND OR known.charged = 0 THEN
        RETURN 'nothing';
      END IF;
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
        VALUES (p_account, p_id, 'correction', known.charged, balance + known.charged, 'reversal');
      UPDATE account SET posted = posted + known.charged WHERE id = p_account;
      RETURN 'reversed';
    END IF;${ofOpen}
  END $$;`;
