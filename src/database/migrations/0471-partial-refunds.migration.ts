import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Operators give the charge of a call or task back in parts. Its corrections together are at most the charge, which a trigger
 * proves for every way in which one is written. What an error gives back is the rest.
 */
export class PartialRefunds1700000000471 implements MigrationInterface {
  readonly name = 'PartialRefunds1700000000471';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ENTRIES);
    await runner.query(WITHIN_CHARGE);
    await runner.query(GIVEN_BACK);
    await runner.query(GIVE_BACK);
    await runner.query(REFUND_CALL);
    await runner.query(REFUND_TASK);
    await runner.query(CANCEL_CALL);
    await runner.query(CANCEL_TASK);
    await runner.query(DROPPED);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Refunds in parts fit no older table: restore a backup'));
  }
}

// No plan may come to read all records, however empty the tables were when it was made.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** `refund_key` is the operator's idempotency key. It belongs to the call or task, not to the account as that of a credit. */
const ENTRIES = `
  ALTER TABLE ledger_entry ADD COLUMN refund_key text
    CHECK (refund_key IS NULL OR (kind = 'correction' AND hold_id IS NOT NULL));
  CREATE UNIQUE INDEX ledger_entry_corrections_of_hold ON ledger_entry (account_id, hold_id, refund_key)
    WHERE kind = 'correction' AND hold_id IS NOT NULL;
  DROP INDEX ledger_entry_one_correction_per_hold;`;

/** Whoever writes a correction has locked its account, so no two are written at once. */
const WITHIN_CHARGE = `
  CREATE FUNCTION ledger_entry_refuse_excess() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    rest bigint := charge_rest(NEW.account_id, NEW.hold_id);
  BEGIN
    IF NEW.amount NOT BETWEEN 1 AND rest THEN
      RAISE EXCEPTION 'of the charge of % are % left', NEW.hold_id, rest USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
  END $$;
  CREATE FUNCTION charge_rest(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  BEGIN
    RETURN coalesce((SELECT -amount FROM ledger_entry WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge'), 0)
      - coalesce((SELECT sum(amount) FROM ledger_entry
                   WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL), 0);
  END $$;
  CREATE TRIGGER ledger_entry_within_charge BEFORE INSERT ON ledger_entry
    FOR EACH ROW WHEN (NEW.kind = 'correction' AND NEW.hold_id IS NOT NULL) EXECUTE FUNCTION ledger_entry_refuse_excess();`;

/**
 * Gives back a part of a charge, or what is left of it (p_amount null); its account is locked. Outcomes: refunded (also when the
 * same key did it before), other_amount (the key gave another amount back), excess, spent (nothing is left), uncharged. `entry` is
 * the position of the entry, null unless refunded; `rest` is what was left before.
 */
const GIVEN_BACK = `
  CREATE FUNCTION charge_refund(
    p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, OUT outcome text, OUT entry bigint, OUT rest bigint,
    OUT is_new boolean
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    given bigint;
    balance bigint;
  BEGIN
    is_new := false;
    IF p_key IS NOT NULL THEN
      SELECT position, amount INTO entry, given FROM ledger_entry
       WHERE account_id = p_account AND hold_id = p_id AND refund_key = p_key AND kind = 'correction' AND hold_id IS NOT NULL;
      IF FOUND THEN
        outcome := CASE WHEN given = coalesce(p_amount, given) THEN 'refunded' ELSE 'other_amount' END;
        RETURN;
      END IF;
    END IF;
    rest := charge_rest(p_account, p_id);
    IF rest = 0 THEN
      PERFORM FROM ledger_entry WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge';
      outcome := CASE WHEN FOUND THEN 'spent' ELSE 'uncharged' END;
    ELSIF p_amount > rest THEN
      outcome := 'excess';
    ELSE
      given := coalesce(p_amount, rest);
      UPDATE account SET posted = posted + given WHERE id = p_account RETURNING posted INTO balance;
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference, refund_key)
        VALUES (p_account, p_id, 'correction', given, balance, p_note, p_key)
        RETURNING position INTO entry;
      outcome := 'refunded';
      is_new := true;
    END IF;
  END $$;`;

/** As before (0240), but only what is left of the charge of a dropped record is given back. */
const GIVE_BACK = `
  CREATE OR REPLACE FUNCTION record_give_back(p_account uuid, p_id uuid) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp ${BY_KEY} AS $$
  DECLARE
    rest bigint;
    balance bigint;
  BEGIN
    PERFORM FROM dropped_record d
      JOIN ledger_entry e ON e.account_id = d.account_id AND e.hold_id = p_id AND e.kind = 'charge'
     WHERE d.account_id = p_account AND p_id <= d.until_id
       AND NOT EXISTS (SELECT FROM execution WHERE account_id = p_account AND id = p_id)
       AND NOT EXISTS (SELECT FROM hold WHERE account_id = p_account AND id = p_id);
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    rest := charge_rest(p_account, p_id);
    IF rest = 0 THEN
      RETURN 'nothing';
    END IF;
    UPDATE account SET posted = posted + rest WHERE id = p_account RETURNING posted INTO balance;
    INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
      VALUES (p_account, p_id, 'correction', rest, balance, 'reversal');
    UPDATE dropped_record SET charged = charged - rest WHERE account_id = p_account;
    RETURN 'reversed';
  END $$;`;

const REFUND = `
    p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, OUT outcome text, OUT entry bigint, OUT rest bigint
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    answer record;
  BEGIN`;

/** As {@link GIVEN_BACK}; also missing (no such call of the account). A call that has failed since then cost nothing. */
const REFUND_CALL = `
  CREATE FUNCTION execution_refund_v2(${REFUND}
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    PERFORM FROM execution WHERE account_id = p_account AND id = p_id;
    IF NOT FOUND THEN
      outcome := 'missing';
      RETURN;
    END IF;
    SELECT * INTO answer FROM charge_refund(p_account, p_id, p_amount, p_key, p_note);
    IF answer.is_new THEN
      UPDATE execution SET refunded = charged - answer.rest + (
               SELECT amount FROM ledger_entry WHERE account_id = p_account AND position = answer.entry)
       WHERE account_id = p_account AND id = p_id;
    END IF;
    SELECT answer.outcome, answer.entry, answer.rest INTO outcome, entry, rest;
    IF outcome = 'spent' AND EXISTS (
      SELECT FROM execution WHERE account_id = p_account AND id = p_id AND status = 'failed'
    ) THEN
      outcome := 'uncharged';
    END IF;
  END $$;`;

/** The same for a task. As wherever a task ends, the task is locked before its account. */
const REFUND_TASK = `
  CREATE FUNCTION task_refund_v2(${REFUND}
    PERFORM FROM task WHERE account_id = p_account AND id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      outcome := 'missing';
      RETURN;
    END IF;
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    SELECT * INTO answer FROM charge_refund(p_account, p_id, p_amount, p_key, p_note);
    IF answer.is_new THEN
      UPDATE task SET refunded = charged - answer.rest + (
               SELECT amount FROM ledger_entry WHERE account_id = p_account AND position = answer.entry)
       WHERE account_id = p_account AND id = p_id;
    END IF;
    SELECT answer.outcome, answer.entry, answer.rest INTO outcome, entry, rest;
  END $$;`;

/** As before (0240, renamed by 0350), but only what is left of the charge is given back. */
const CANCEL_CALL = `
  CREATE OR REPLACE FUNCTION execution_cancel_record(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text,
    p_provider_request_id text
  ) RETURNS text LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    balance bigint;
    rest bigint;
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
    rest := known.charged - coalesce(known.refunded, 0);
    IF rest > 0 THEN
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
        VALUES (p_account, p_id, 'correction', rest, balance + rest, 'reversal');
      UPDATE account SET posted = posted + rest WHERE id = p_account;
    END IF;
    RETURN 'reversed';
  END $$;`;

/** As before (0332), but only what is left of the charge is given back. */
const CANCEL_TASK = `
  CREATE OR REPLACE FUNCTION task_cancel(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    balance bigint;
    rest bigint;
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
      rest := charge_rest(p_account, p_id);
      IF rest = 0 THEN
        RETURN 'nothing';
      END IF;
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
        VALUES (p_account, p_id, 'correction', rest, balance + rest, 'reversal');
      UPDATE account SET posted = posted + rest WHERE id = p_account;
      RETURN 'reversed';
    END IF;
    RAISE EXCEPTION 'task % has not ended', p_id USING ERRCODE = 'serialization_failure';
  END $$;`;

/** As before (0205), with all that was given back of a record. */
const DROPPED = `
  CREATE OR REPLACE FUNCTION record_note_dropped(p_accounts uuid[], p_ids uuid[]) RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp ${BY_KEY} AS $$
    INSERT INTO dropped_record AS d (account_id, until_id, records, charged)
      SELECT gone.account, (array_agg(gone.id ORDER BY gone.id DESC))[1], count(*), sum(charge_rest(gone.account, gone.id))
        FROM unnest(p_accounts, p_ids) gone (account, id)
       GROUP BY gone.account ORDER BY gone.account
      ON CONFLICT (account_id) DO UPDATE
        SET until_id = greatest(d.until_id, excluded.until_id), records = d.records + excluded.records,
            charged = d.charged + excluded.charged;
  $$;`;
