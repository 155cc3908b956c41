import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is owed for a call or task whose record was dropped (docs/adr/0016) is given back too: the entries say what it cost. Before,
 * it was taken for one that never arrived, and its charge stayed.
 */
export class DebtsOutliveRecords1700000000240 implements MigrationInterface {
  readonly name = 'DebtsOutliveRecords1700000000240';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(GIVE_BACK);
    await runner.query(CANCEL_CALL);
    await runner.query(CANCEL_TASK);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The functions before these are gone: restore a backup'));
  }
}

// No plan may come to read all records, however empty the tables were when it was made.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/**
 * Gives the charge of a dropped record back; its account is locked. Answers reversed, or nothing where that was done before;
 * null for a record that is there, and for one that was charged nothing or never dropped.
 */
const GIVE_BACK = `
  CREATE FUNCTION record_give_back(p_account uuid, p_id uuid) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp ${BY_KEY} AS $$
  DECLARE
    paid bigint;
    balance bigint;
  BEGIN
    SELECT -e.amount INTO paid
      FROM dropped_record d
      JOIN ledger_entry e ON e.account_id = d.account_id AND e.hold_id = p_id AND e.kind = 'charge'
     WHERE d.account_id = p_account AND p_id <= d.until_id
       AND NOT EXISTS (SELECT FROM execution WHERE account_id = p_account AND id = p_id)
       AND NOT EXISTS (SELECT FROM hold WHERE account_id = p_account AND id = p_id);
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    PERFORM FROM ledger_entry
      WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL;
    IF FOUND THEN
      RETURN 'nothing';
    END IF;
    UPDATE account SET posted = posted + paid WHERE id = p_account RETURNING posted INTO balance;
    INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
      VALUES (p_account, p_id, 'correction', paid, balance, 'reversal');
    UPDATE dropped_record SET charged = charged - paid WHERE account_id = p_account;
    RETURN 'reversed';
  END $$;`;

/** As before; the charge of a dropped call is given back. */
const CANCEL_CALL = `
  CREATE OR REPLACE FUNCTION execution_cancel(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text,
    p_provider_request_id text
  ) RETURNS text LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    balance bigint;
    known execution;
    outcome text;
  BEGIN
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'missing';
    END IF;
    SELECT * INTO known FROM execution WHERE account_id = p_account AND id = p_id;
    IF NOT FOUND THEN
      outcome := record_give_back(p_account, p_id);
      IF outcome IS NULL THEN
        INSERT INTO execution (account_id, id, api_key_id, held, model, endpoint, status, completed_at, error_code)
          VALUES (p_account, p_id, p_api_key, 0, p_model, p_endpoint, 'failed', now(), p_error_code);
      END IF;
      RETURN coalesce(outcome, 'cancelled');
    ELSIF known.status = 'failed' THEN
      RETURN 'nothing';
    END IF;
    UPDATE execution
       SET status = 'failed', charged = NULL, refunded = NULL, error_code = p_error_code,
           completed_at = coalesce(completed_at, now()), provider = coalesce(p_provider, provider),
           provider_request_id = coalesce(p_provider_request_id, provider_request_id)
     WHERE account_id = p_account AND id = p_id;
    IF known.status = 'running' THEN
      UPDATE account SET held = held - known.held WHERE id = p_account;
      RETURN 'released';
    END IF;
    IF known.charged > coalesce(known.refunded, 0) THEN
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
        VALUES (p_account, p_id, 'correction', known.charged, balance + known.charged, 'reversal');
      UPDATE account SET posted = posted + known.charged WHERE id = p_account;
    END IF;
    RETURN 'reversed';
  END $$;`;

/** As before; the charge of a dropped task is given back. */
const CANCEL_TASK = `
  CREATE OR REPLACE FUNCTION task_cancel(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql ${BY_KEY} AS $$
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
    END IF;
    UPDATE task
       SET status = 'failed', sealed_input = NULL, error_code = 'task_cancelled',
           error_message = 'The task was cancelled: its submission was answered with an error.',
           completed_at = coalesce(completed_at, now())
     WHERE account_id = p_account AND id = p_id;
    DELETE FROM task_work WHERE account_id = p_account AND task_id = p_id;
    IF ledger_resolve(p_account, p_id, NULL) <> 'done' THEN
      RAISE EXCEPTION 'the hold of task % cannot be released', p_id;
    END IF;
    RETURN 'released';
  END $$;`;
