import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A task keeps the basis of its price, as a call does. A submission that is repeated while its first try is being committed
 * finds the task of that try. A task whose submitter received an error can be undone
 * (ADR 0012).
 */
export class ExplainedTasks1700000000190 implements MigrationInterface {
  readonly name = 'ExplainedTasks1700000000190';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
    await runner.query(SUBMIT);
    await runner.query(SUBMIT_CAPPED);
    await runner.query(UNEXPLAIN);
    await runner.query(CANCEL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Tasks of today fit no older functions: restore a backup'));
  }
}

// No plan may read all tasks, even if it was made while the tables were empty.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

const COLUMNS = `
  ALTER TABLE task ADD COLUMN unit text, ADD COLUMN quantity jsonb, ADD COLUMN unit_price jsonb;
  DROP FUNCTION task_submit, task_submit_capped;`;

/**
 * Writes key, hold, task and its first work in one transaction. Outcomes: created (also when it was done before), claim_lost
 * (another request has the claim on the key now), insufficient, conflict, missing (no such account).
 */
const SUBMIT = `
  CREATE FUNCTION task_submit(
    p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text,
    p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint,
    p_unit text, p_quantity jsonb, p_unit_price jsonb,
    p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid,
    OUT outcome text, OUT created timestamptz
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF p_key IS NOT NULL THEN
      PERFORM FROM idempotency_key
        WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key AND token = p_token FOR UPDATE;
      IF NOT FOUND THEN
        outcome := 'claim_lost';
        RETURN;
      END IF;
    END IF;
    outcome := ledger_hold(p_account, p_id, p_amount, 'task');
    -- The account is locked from here on: an earlier try of this submission has been committed by now, or never will be.
    SELECT created_at INTO created FROM task WHERE account_id = p_account AND id = p_id;
    IF FOUND THEN
      outcome := 'created';
      RETURN;
    END IF;
    IF outcome <> 'held' THEN
      RETURN;
    END IF;
    INSERT INTO task (account_id, id, api_key_id, kind, modality, model, client_request_id, sealed_input, details, provider,
                      provider_base_url, on_sandbox, upstream_model, reserved, unit, quantity, unit_price, webhook_url,
                      webhook_secret)
      VALUES (p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider,
              p_base_url, p_on_sandbox, p_upstream_model, p_amount, p_unit, p_quantity, p_unit_price, p_webhook_url,
              p_webhook_secret)
      RETURNING created_at INTO created;
    INSERT INTO task_work (account_id, task_id, lane, phase) VALUES (p_account, p_id, p_lane, 'waiting');
    IF p_key IS NOT NULL THEN
      UPDATE idempotency_key SET task_id = p_id WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key;
    END IF;
    outcome := 'created';
  END $$;`;

/** As task_submit, for a key that may have a limit. The outcome may also be over_limit. */
const SUBMIT_CAPPED = `
  CREATE FUNCTION task_submit_capped(
    p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text,
    p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text,
    p_amount bigint, p_unit text, p_quantity jsonb, p_unit_price jsonb, p_webhook_url text, p_webhook_secret text,
    p_endpoint text, p_key text, p_token uuid,
    OUT outcome text, OUT created timestamptz
  ) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    allowance record;
    is_new boolean;
  BEGIN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    is_new := NOT EXISTS (SELECT FROM task WHERE account_id = p_account AND id = p_id);
    SELECT * INTO allowance FROM key_room(p_account, p_api_key);
    IF is_new AND p_amount > allowance.room THEN
      outcome := 'over_limit';
      RETURN;
    END IF;
    SELECT t.outcome, t.created INTO outcome, created FROM task_submit(
      p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider, p_base_url,
      p_on_sandbox, p_upstream_model, p_lane, p_amount, p_unit, p_quantity, p_unit_price, p_webhook_url, p_webhook_secret,
      p_endpoint, p_key, p_token) t;
    IF is_new AND outcome = 'created' AND allowance.counts_in IS NOT NULL THEN
      UPDATE task SET spend_period = allowance.counts_in WHERE account_id = p_account AND id = p_id;
    END IF;
  END $$;`;

/** An operator may set a charge by hand. Such a charge has no quantity. */
const UNEXPLAIN = `
  CREATE FUNCTION task_unexplain() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.unit := NULL;
    NEW.quantity := NULL;
    NEW.unit_price := NULL;
    RETURN NEW;
  END $$;
  CREATE TRIGGER task_unexplained BEFORE UPDATE OF charged ON task
    FOR EACH ROW WHEN (NEW.charged <> NEW.reserved) EXECUTE FUNCTION task_unexplain();`;

/**
 * Makes sure that a task whose submitter received an error holds nothing and costs nothing: its hold is released or its charge
 * is given back; if the task never arrived, its id is taken, so that it cannot arrive later. May be repeated. Returns what it
 * did: released, reversed, cancelled; nothing if there was nothing to do; missing if there is no such account.
 */
const CANCEL = `
  CREATE FUNCTION task_cancel(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    balance bigint;
    known task;
  BEGIN
    PERFORM FROM task_work WHERE account_id = p_account AND task_id = p_id FOR UPDATE;
    SELECT * INTO known FROM task WHERE account_id = p_account AND id = p_id FOR UPDATE;
    IF NOT FOUND THEN
      IF ledger_resolve(p_account, p_id, NULL) = 'missing' THEN
        RETURN 'missing';
      END IF;
      -- The account is locked now: whoever was submitting the task has done so, or finds its id taken.
      PERFORM FROM task WHERE account_id = p_account AND id = p_id;
      IF FOUND THEN
        RAISE EXCEPTION 'task % has just arrived', p_id USING ERRCODE = 'serialization_failure';
      END IF;
      RETURN 'cancelled';
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
