import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A task that failed or expired is delivered after all, when its provider was seen to succeed late and an operator has the
 * result collected. Its hold is released and final, so what an operator charges for it has a hold of its own, which takes the
 * place of the released one. Usage counts such a task as it first ended; its charge counts on the day on which it was made.
 *
 * A task also keeps what its provider said about its failure, and a word for its state that the adapter did not know.
 */
export class LateDeliveries1700000000450 implements MigrationInterface {
  readonly name = 'LateDeliveries1700000000450';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(CALLS);
    await runner.query(CHARGE);
    await runner.query(END);
    await runner.query(TELL);
    await runner.query(EXPLAIN);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Late deliveries fit no older table: restore a backup'));
  }
}

const ZERO = `'00000000-0000-0000-0000-000000000000'::uuid`;

const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** `late_charge` has what was charged for tasks that were delivered late, whatever becomes of their records. */
const TABLES = `
  ALTER TABLE task ADD COLUMN delivered_late boolean NOT NULL DEFAULT false, ADD COLUMN provider_fault json,
    ADD COLUMN unknown_state text;
  CREATE INDEX task_to_collect ON task (id)
    WHERE evidence_status = 'succeeded' AND status IN ('failed', 'expired', 'reconciliation_required');
  CREATE TABLE late_charge (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    model text NOT NULL,
    endpoint text NOT NULL,
    charged bigint NOT NULL CHECK (charged > 0),
    charged_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
  );
  CREATE INDEX late_charge_by_time ON late_charge (charged_at);`;

/** As in 0163. What is charged for a late delivery counts by its own row (0479). */
const CALLS = `
  CREATE OR REPLACE VIEW usage_call AS
    SELECT e.account_id, e.id, e.created_at, e.status <> 'running' AS is_final, e.completed_at AS ended_at,
           coalesce(e.api_key_id, ${ZERO}) AS api_key_id, e.model, e.endpoint, e.status = 'failed' AS is_failed,
           CASE WHEN e.status <> 'succeeded' THEN 0
                WHEN e.unit = 'token' THEN (e.quantity->>'promptTokens')::numeric + (e.quantity->>'completionTokens')::numeric
                ELSE coalesce((e.quantity #>> '{}')::numeric, 0) END AS quantity,
           CASE e.status WHEN 'succeeded' THEN e.charged
                         WHEN 'failed' THEN coalesce((SELECT -l.amount FROM ledger_entry l
                           WHERE l.account_id = e.account_id AND l.hold_id = e.id AND l.kind = 'charge'), 0) END AS charged,
           usage_bucket(e.duration_ms) AS bucket
      FROM execution e
    UNION ALL
    SELECT t.account_id, t.id, t.created_at, t.status IN ('succeeded', 'failed', 'expired'),
           coalesce(h.resolved_at, t.completed_at), coalesce(t.api_key_id, ${ZERO}), t.model,
           CASE t.kind WHEN 'dubbing' THEN '/v1/audio/dubbing' WHEN 'song' THEN '/v1/music/generations'
                       WHEN 'video' THEN '/v1/videos' ELSE t.kind END,
           t.status <> 'succeeded' OR t.delivered_late,
           CASE WHEN t.status = 'succeeded' AND NOT t.delivered_late THEN 1 ELSE 0 END,
           CASE WHEN t.delivered_late THEN 0 ELSE coalesce(t.charged, 0) END,
           usage_bucket((extract(epoch FROM t.completed_at - t.created_at) * 1000)::bigint)
      FROM task t LEFT JOIN hold h ON h.account_id = t.account_id AND h.id = t.id;`;

/**
 * Charges a task whose hold was released: the account is locked, and the released hold is replaced by one of the charge, which is
 * settled at once. False, and nothing has changed, if the account cannot pay.
 */
const CHARGE = `
  CREATE FUNCTION task_charge_late(p_account uuid, p_id uuid, p_charge bigint) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp ${BY_KEY} AS $$
  DECLARE
    free bigint;
  BEGIN
    SELECT posted - held INTO free FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF free IS NULL OR free < p_charge THEN
      RETURN false;
    END IF;
    DELETE FROM hold WHERE account_id = p_account AND id = p_id AND state = 'released';
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    IF ledger_hold(p_account, p_id, p_charge, 'task') <> 'held' OR ledger_resolve(p_account, p_id, p_charge) <> 'done' THEN
      RAISE EXCEPTION 'task % cannot be charged', p_id;
    END IF;
    INSERT INTO late_charge (account_id, id, api_key_id, model, endpoint, charged, charged_at)
      SELECT c.account_id, c.id, c.api_key_id, c.model, c.endpoint, p_charge, l.created_at
        FROM usage_call c
        JOIN ledger_entry l ON l.account_id = c.account_id AND l.hold_id = c.id AND l.kind = 'charge'
       WHERE c.account_id = p_account AND c.id = p_id;
    RETURN true;
  END $$;`;

/**
 * As in 0342, and p_money may be settle_anew: the task had failed or expired, and is charged p_charge, which may be 0, although
 * its hold is released. Also returns false if the account cannot pay that.
 */
const END = `
  CREATE OR REPLACE FUNCTION task_end(
    p_account uuid, p_id uuid, p_fence bigint, p_from text[], p_status text, p_money text, p_charge bigint,
    p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json,
    p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_unsent boolean
  ) RETURNS boolean LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    has_job boolean;
  BEGIN
    PERFORM FROM task_work
      WHERE account_id = p_account AND task_id = p_id AND (p_fence IS NULL OR fence = p_fence)
        AND (NOT p_unsent OR (phase = 'waiting' AND submits = 0)) FOR UPDATE;
    IF NOT FOUND AND (p_unsent OR p_fence IS NOT NULL) THEN
      RETURN false;
    END IF;
    IF p_money = 'settle_anew' AND p_charge > 0 THEN
      PERFORM FROM task WHERE account_id = p_account AND id = p_id AND status = ANY (p_from) FOR NO KEY UPDATE;
      IF NOT FOUND OR NOT task_charge_late(p_account, p_id, p_charge) THEN
        RETURN false;
      END IF;
    END IF;
    UPDATE task
       SET status = p_status, progress = greatest(progress, p_progress), memory = coalesce(p_memory, memory),
           sealed_input = CASE WHEN p_money = 'keep' THEN sealed_input END,
           result = p_result, charged = CASE WHEN p_money IN ('settle', 'settle_anew') THEN p_charge END,
           error_code = p_error_code, error_message = p_error_message, content = coalesce(p_content, content),
           completed_at = p_completed, delivered_late = p_money = 'settle_anew'
     WHERE account_id = p_account AND id = p_id AND status = ANY (p_from)
     RETURNING provider_job_id IS NOT NULL INTO has_job;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    IF p_watch_lane IS NULL OR NOT has_job THEN
      DELETE FROM task_work WHERE account_id = p_account AND task_id = p_id;
    ELSE
      UPDATE task_work
         SET phase = 'watching', lane = p_watch_lane, fence = fence + 1, strikes = 0,
             due_at = now() + p_watch_ms * interval '1 millisecond'
       WHERE account_id = p_account AND task_id = p_id;
    END IF;
    IF p_money IN ('settle', 'release')
       AND 'done' <> ledger_resolve(p_account, p_id, CASE WHEN p_money = 'settle' THEN p_charge END) THEN
      RAISE EXCEPTION 'the hold of task % does not take %', p_id, p_money;
    END IF;
    RETURN true;
  END $$;`;

/** As in 0341. The delivery of a late success ends the older deliveries too. */
const TELL = `
  CREATE OR REPLACE FUNCTION task_end_telling(
    p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint,
    p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json,
    p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_unsent boolean,
    p_delivery uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_told timestamptz
  ) RETURNS boolean LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF p_content IS NOT NULL THEN
      PERFORM FROM stored_file
        WHERE account_id = p_account AND id = (p_content ->> 'fileId')::uuid AND state = 'stored' AND expires_at > 'epoch'
        FOR UPDATE;
      IF NOT FOUND THEN
        RETURN false;
      END IF;
    END IF;
    IF NOT task_end(p_account, p_id, p_fence, p_from::text[], p_status, p_money, p_charge, p_progress, p_memory, p_result,
                    p_error_code, p_error_message, p_content, p_completed, p_watch_lane, p_watch_ms, p_unsent) THEN
      RETURN false;
    END IF;
    IF p_content IS NOT NULL THEN
      UPDATE stored_file SET expires_at = (p_content ->> 'expiresAt')::timestamptz
        WHERE account_id = p_account AND id = (p_content ->> 'fileId')::uuid;
    END IF;
    IF 'reconciliation_required' = ANY (p_from::text[]) OR p_money = 'settle_anew' THEN
      UPDATE webhook_delivery
         SET status = 'failed', retry = NULL, due_at = NULL, is_under_way = false, fence = fence + 1
       WHERE account_id = p_account AND owner_id = p_id AND status = 'pending';
    END IF;
    IF p_delivery IS NOT NULL THEN
      PERFORM webhook_enqueue(p_account, p_delivery, p_id, p_url, p_origin, p_sealed_secret, p_body, p_told);
    END IF;
    RETURN true;
  END $$;`;

/** Calls task_end_telling, and keeps what the provider said about the failure (p_fault), if it said anything. */
const EXPLAIN = `
  CREATE FUNCTION task_end_explaining(
    p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint,
    p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json,
    p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_unsent boolean, p_fault json,
    p_delivery uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_told timestamptz
  ) RETURNS boolean LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF NOT task_end_telling(p_account, p_id, p_fence, p_from, p_status, p_money, p_charge, p_progress, p_memory, p_result,
                            p_error_code, p_error_message, p_content, p_completed, p_watch_lane, p_watch_ms, p_unsent,
                            p_delivery, p_url, p_origin, p_sealed_secret, p_body, p_told) THEN
      RETURN false;
    END IF;
    IF p_fault IS NOT NULL THEN
      UPDATE task SET provider_fault = p_fault WHERE account_id = p_account AND id = p_id;
    END IF;
    RETURN true;
  END $$;`;
