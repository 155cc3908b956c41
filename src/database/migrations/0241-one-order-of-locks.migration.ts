import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * One order of locks for whatever touches a task: work, task, account, idempotency key. A submission locked its idempotency key
 * before the account, but with a spend limit, or second in a shared statement, after it: a submission that was repeated while its
 * first try still waited could then deadlock with it. And a key that has ended has nothing left to spend: processes learn of its
 * end within 2 s, and until then its calls would count beside those of its successor.
 */
export class OneOrderOfLocks1700000000241 implements MigrationInterface {
  readonly name = 'OneOrderOfLocks1700000000241';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SUBMIT);
    await runner.query(DROP_TASKS);
    await runner.query(ROOM);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The functions before these are gone: restore a backup'));
  }
}

// No plan may come to read all tasks, however empty the tables were when it was made.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/**
 * Hold, task, its first work and the use of its idempotency key in one transaction. Outcomes: created (also when it was done
 * before), claim_lost (the key's claim is no longer this request's), insufficient, conflict, missing (no such account).
 */
const SUBMIT = `
  CREATE OR REPLACE FUNCTION task_submit(
    p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text,
    p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint,
    p_unit text, p_quantity jsonb, p_unit_price jsonb,
    p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid,
    OUT outcome text, OUT created timestamptz
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF p_key IS NOT NULL THEN
      PERFORM FROM idempotency_key
        WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key AND token = p_token FOR UPDATE;
      IF NOT FOUND THEN
        outcome := 'claim_lost';
        RETURN;
      END IF;
    END IF;
    outcome := ledger_hold(p_account, p_id, p_amount, 'task');
    -- The account is locked: an earlier try of this submission has been committed by now, or never will be.
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

const NO_ID = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** As before; idempotency keys are locked when they are deleted. A task with work or a delivery to come stays. */
const DROP_TASKS = `
  CREATE OR REPLACE FUNCTION record_drop_tasks(p_days int, p_limit int, OUT seen int, OUT dropped int)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp ${BY_KEY} AS $$
  DECLARE
    place record_retention;
    cutoff timestamptz := now() - p_days * interval '1 day';
    proven timestamptz := (SELECT tasks FROM record_proven());
    accounts uuid[];
    ids uuid[];
  BEGIN
    seen := 0;
    dropped := 0;
    IF p_days < 30 THEN
      RAISE EXCEPTION 'records are kept for 30 days at least' USING ERRCODE = 'check_violation';
    END IF;
    SELECT * INTO place FROM record_retention FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    SELECT array_agg(old.id ORDER BY old.id) INTO ids
      FROM (SELECT id FROM task
             WHERE id > place.tasks_after AND id < first_id_since(cutoff) ORDER BY id LIMIT p_limit) old;
    seen := coalesce(cardinality(ids), 0);
    UPDATE record_retention SET tasks_after = CASE WHEN seen < p_limit THEN ${NO_ID} ELSE ids[seen] END;
    SELECT array_agg(DISTINCT ended.account_id), array_agg(ended.id) INTO accounts, ids
      FROM (SELECT t.account_id, t.id FROM task t
             WHERE t.id = ANY (ids) AND t.status IN ('succeeded', 'failed', 'expired') AND t.completed_at < cutoff
               AND t.created_at < proven
               FOR UPDATE SKIP LOCKED) ended;
    PERFORM FROM account WHERE id = ANY (accounts) ORDER BY id FOR NO KEY UPDATE;
    SELECT array_agg(t.account_id), array_agg(t.id) INTO accounts, ids
      FROM task t JOIN hold h ON h.account_id = t.account_id AND h.id = t.id
     WHERE t.id = ANY (ids) AND h.state <> 'open' AND h.created_at < proven
       AND record_is_proven(t.account_id, t.id, proven)
       AND NOT EXISTS (SELECT FROM task_work w WHERE w.account_id = t.account_id AND w.task_id = t.id)
       AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.owner_id = t.id AND d.status = 'pending');
    dropped := coalesce(cardinality(ids), 0);
    IF dropped > 0 THEN
      DELETE FROM webhook_attempt a USING webhook_delivery d
       WHERE d.owner_id = ANY (ids) AND a.account_id = d.account_id AND a.delivery_id = d.id;
      DELETE FROM webhook_delivery WHERE owner_id = ANY (ids);
      DELETE FROM idempotency_key WHERE task_id = ANY (ids);
      DELETE FROM hold h USING unnest(accounts, ids) gone (account_id, id)
       WHERE h.account_id = gone.account_id AND h.id = gone.id;
      DELETE FROM task t USING unnest(accounts, ids) gone (account_id, id)
       WHERE t.account_id = gone.account_id AND t.id = gone.id;
      PERFORM record_note_dropped(accounts, ids);
    END IF;
  END $$;`;

const ROOM = `
  ALTER FUNCTION key_room RENAME TO key_room_of_any;
  CREATE FUNCTION key_room(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamptz)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  BEGIN
    SELECT r.room, r.counts_in INTO room, counts_in FROM key_room_of_any(p_account, p_key) r;
    IF room > 0 AND EXISTS (
      SELECT FROM api_key WHERE id = p_key AND (revoked_at IS NOT NULL OR expires_at <= clock_timestamp())) THEN
      room := 0;
    END IF;
  END $$;`;
