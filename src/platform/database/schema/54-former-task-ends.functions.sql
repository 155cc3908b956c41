-- How processes of version 0.1.0 submit and end tasks. They may run beside this version, whose own functions are task_submit_v2,
-- task_complete and task_keep_job_v2; the next version drops these and the trigger task_unexplained.

-- The only function that ends a task: it changes status, money and work together. The task must be in one of the states
-- p_from, p_fence must be the newest fence (or null), and with p_unsent no submission may ever have begun. With p_watch_lane
-- the work of a task that has a job stays, and the provider's job is watched. Returns false, and changes nothing, if a
-- condition is not met. p_money:
-- - settle: the charge is p_charge;
-- - release: what was held is free again;
-- - keep: the money stays held;
-- - settle_anew: the task had failed or expired and is delivered after all. It is charged p_charge, which may be 0, although
--   its hold is released. Also returns false if the account cannot pay that.
CREATE OR REPLACE FUNCTION task_end(
  p_account uuid, p_id uuid, p_fence bigint, p_from text[], p_status text, p_money text, p_charge bigint, p_progress smallint,
  p_memory json, p_result json, p_error_code text, p_error_message text, p_content json, p_completed timestamptz,
  p_watch_lane text, p_watch_ms bigint, p_unsent boolean
) RETURNS boolean LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
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
END $$;

-- Calls task_end, and adds the delivery of the webhook if the task has one (p_delivery). The file that p_content names is made
-- to last as long as its content; if it is gone, the task does not end. A webhook about an unknown outcome, or about the
-- failure of a task that is delivered late, is not tried again, because it would tell the receiver a state that is over; a
-- running attempt is still logged, but has no effect. p_from is the text of an array, because a statement that ends many tasks
-- passes an array of them. Returns false, and changes nothing, if a condition is not met.
CREATE OR REPLACE FUNCTION task_end_telling(
  p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint, p_progress smallint,
  p_memory json, p_result json, p_error_code text, p_error_message text, p_content json, p_completed timestamptz,
  p_watch_lane text, p_watch_ms bigint, p_unsent boolean, p_delivery uuid, p_url text, p_origin text, p_sealed_secret text,
  p_body bytea, p_told timestamptz
) RETURNS boolean LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
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
END $$;

-- Calls task_end_telling, and keeps what the provider said about the failure (p_fault), if it said anything.
CREATE OR REPLACE FUNCTION task_end_explaining(
  p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint, p_progress smallint,
  p_memory json, p_result json, p_error_code text, p_error_message text, p_content json, p_completed timestamptz,
  p_watch_lane text, p_watch_ms bigint, p_unsent boolean, p_fault json, p_delivery uuid, p_url text, p_origin text,
  p_sealed_secret text, p_body bytea, p_told timestamptz
) RETURNS boolean LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
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
END $$;

-- An operator may set a charge by hand. Such a charge has no quantity. A basis that is known only at the end, such as of the images that
-- were made, comes with the charge.
CREATE OR REPLACE FUNCTION task_unexplain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.unit IS NOT NULL AND NEW.quantity IS NOT DISTINCT FROM OLD.quantity THEN
    NEW.unit := NULL;
    NEW.quantity := NULL;
    NEW.unit_price := NULL;
  END IF;
  RETURN NEW;
END $$;

-- As task_submit, for a key that may have a limit or a maker, for which it counts too. The outcome may also be over_limit.
CREATE OR REPLACE FUNCTION task_submit_capped(
  p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text, p_input text,
  p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint,
  p_unit text, p_quantity jsonb, p_unit_price jsonb, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text,
  p_token uuid, OUT outcome text, OUT created timestamptz
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  allowance record;
  maker uuid;
  is_new boolean;
BEGIN
  PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
  is_new := NOT EXISTS (SELECT FROM task WHERE account_id = p_account AND id = p_id);
  SELECT * INTO allowance FROM key_room(p_account, p_api_key);
  SELECT maker_id INTO maker FROM api_key WHERE id = p_api_key;
  IF is_new AND p_amount > least(allowance.room, (SELECT room FROM key_room(p_account, maker))) THEN
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
END $$;

-- Names the job of a task that has none, and has it watched if the task waits for an operator: the id of a job that a provider
-- accepted is kept even if it is reported after the lease of the submission. Status and money stay. False, and nothing
-- changes, if the task has a job or its outcome is known.
CREATE OR REPLACE FUNCTION task_keep_job(p_account uuid, p_id uuid, p_job_id text, p_watch_lane text, p_watch_ms bigint)
RETURNS boolean LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  now_is text;
BEGIN
  UPDATE task SET provider_job_id = p_job_id
   WHERE account_id = p_account AND id = p_id AND provider_job_id IS NULL
     AND status IN ('queued', 'processing', 'reconciliation_required')
   RETURNING status INTO now_is;
  IF now_is = 'reconciliation_required' THEN
    INSERT INTO task_work (account_id, task_id, lane, phase, due_at)
      VALUES (p_account, p_id, p_watch_lane, 'watching', now() + p_watch_ms * interval '1 millisecond')
      ON CONFLICT DO NOTHING;
  END IF;
  RETURN now_is IS NOT NULL;
END $$;
