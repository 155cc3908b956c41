-- The ends of tasks, and what is given back of their charges.

-- Locks work, then tasks, then accounts, each in the order of their ids, for a statement that ends many tasks: otherwise it
-- would come to the second task with the account of the first, and deadlock with a statement that has the same tasks in the
-- opposite order.
CREATE OR REPLACE FUNCTION task_end_lock(p_accounts uuid[], p_ids uuid[]) RETURNS boolean LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  PERFORM FROM unnest(p_accounts, p_ids) t (account, id)
    JOIN task_work w ON w.account_id = t.account AND w.task_id = t.id
   ORDER BY w.account_id, w.task_id FOR UPDATE OF w;
  PERFORM FROM unnest(p_accounts, p_ids) t (account, id)
    JOIN task k ON k.account_id = t.account AND k.id = t.id
   ORDER BY k.account_id, k.id FOR NO KEY UPDATE OF k;
  PERFORM FROM account WHERE id = ANY (p_accounts) ORDER BY id FOR NO KEY UPDATE;
  RETURN true;
END $$;

-- Charges a task whose hold was released: the account is locked, and the released hold is replaced by one of the charge, which
-- is settled at once. False, and nothing has changed, if the account cannot pay.
CREATE OR REPLACE FUNCTION task_charge_late(p_account uuid, p_id uuid, p_charge bigint)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
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
END $$;

-- Notes beside the late charge of a task what the task costs now and did not cost before; null: that is not known.
CREATE OR REPLACE FUNCTION task_cost_late(p_account uuid, p_id uuid, p_cost bigint) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = public, pg_temp SET enable_seqscan = off SET jit = off AS $$
  INSERT INTO late_charge AS l (account_id, id, api_key_id, model, endpoint, charged, charged_at, cost)
    SELECT account_id, id, api_key_id, model, endpoint, 0, now(), p_cost FROM usage_call
     WHERE account_id = p_account AND id = p_id
    ON CONFLICT (account_id, id) DO UPDATE SET cost = excluded.cost;
$$;

-- The only function that ends a task: it changes state, money, work and webhook together. What the task is afterwards was
-- computed by its caller, who has frozen the body of the webhook from it, and is written as it was given. The function decides
-- whether the task may end so: it must be in one of the states p_from, p_fence must be the newest fence (or null), with
-- p_unsent no submission may ever have begun, and the file that p_content names must be there, which is made to last as long
-- as its content. Returns false, and changes nothing, if a condition is not met. p_money says what the charge is taken from:
-- - settle: from the hold, p_charge; the rest is free again;
-- - release: from nothing, what was held is free again;
-- - keep: from nothing, the money stays held;
-- - settle_anew: the task had failed or expired and is delivered after all. It is charged p_charge, which may be 0, although
--   its hold is released. Also returns false if the account cannot pay that.
-- What the task costs at its provider (p_cost) is written once; null: not known.
-- p_basis is how the charge was computed where that is known only at the end. p_response is the answer that is stored with the end
-- (response_store); where it is not, because all of the account was erased meanwhile, the webhook tells what it tells of an erased one.
-- Without p_has_basis the charge is an operator's, which has no quantity. With p_watch_lane the work of a task stays that has a job
-- or an unknown outcome, and its provider is asked on. A webhook about an unknown outcome, or about the failure of a task that is
-- delivered late, is not tried again, because it would tell the receiver a state that is over; a running attempt is still
-- logged, but has no effect. p_from is the text of an array, because a statement that ends many tasks passes an array of them.
CREATE OR REPLACE FUNCTION task_complete(
  p_account uuid, p_id uuid, p_fence bigint, p_from text, p_unsent boolean, p_status text, p_money text, p_charge bigint,
  p_has_basis boolean, p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_fault json,
  p_content json, p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_delivery uuid, p_url text, p_origin text,
  p_sealed_secret text, p_body bytea, p_told timestamptz, p_cost bigint DEFAULT NULL,
  p_basis jsonb DEFAULT NULL, p_response json DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  has_job boolean;
  earlier_cost bigint;
  body bytea := p_body;
BEGIN
  IF p_content IS NOT NULL THEN
    PERFORM FROM stored_file
      WHERE account_id = p_account AND id = (p_content ->> 'fileId')::uuid AND state = 'stored' AND expires_at > 'epoch'
      FOR UPDATE;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
  END IF;
  PERFORM FROM task_work
    WHERE account_id = p_account AND task_id = p_id AND (p_fence IS NULL OR fence = p_fence)
      AND (NOT p_unsent OR (phase = 'waiting' AND submits = 0)) FOR UPDATE;
  IF NOT FOUND AND (p_unsent OR p_fence IS NOT NULL) THEN
    RETURN false;
  END IF;
  IF p_money = 'settle_anew' AND p_charge > 0 THEN
    PERFORM FROM task WHERE account_id = p_account AND id = p_id AND status = ANY (p_from::text[]) FOR NO KEY UPDATE;
    IF NOT FOUND OR NOT task_charge_late(p_account, p_id, p_charge) THEN
      RETURN false;
    END IF;
  END IF;
  IF p_money = 'settle_anew' THEN
    SELECT cost INTO earlier_cost FROM task
     WHERE account_id = p_account AND id = p_id AND status = ANY (p_from::text[]) FOR NO KEY UPDATE;
  END IF;
  UPDATE task
     SET status = p_status, progress = p_progress, memory = p_memory, cost = coalesce(cost, p_cost),
         sealed_input = CASE WHEN p_money = 'keep' THEN sealed_input END, result = p_result, charged = p_charge,
         unit = CASE WHEN p_has_basis THEN coalesce(p_basis ->> 'unit', unit) END,
         quantity = CASE WHEN p_has_basis THEN coalesce(p_basis -> 'quantity', quantity) END,
         unit_price = CASE WHEN p_has_basis THEN coalesce(p_basis -> 'unitPrice', unit_price) END, error_code = p_error_code, error_message = p_error_message,
         provider_fault = p_fault, content = p_content, completed_at = p_completed, delivered_late = p_money = 'settle_anew'
   WHERE account_id = p_account AND id = p_id AND status = ANY (p_from::text[])
   RETURNING provider_job_id IS NOT NULL INTO has_job;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF p_money = 'settle_anew' AND coalesce(earlier_cost, p_cost) IS NOT NULL THEN
    PERFORM task_cost_late(p_account, p_id, CASE WHEN earlier_cost IS NULL THEN p_cost ELSE 0 END);
  END IF;
  IF p_watch_lane IS NULL OR NOT (has_job OR p_money = 'keep') THEN
    DELETE FROM task_work WHERE account_id = p_account AND task_id = p_id;
  ELSE
    UPDATE task_work
       SET phase = 'watching', lane = p_watch_lane, fence = fence + 1, strikes = 0,
           due_at = now() + p_watch_ms * interval '1 millisecond'
     WHERE account_id = p_account AND task_id = p_id;
  END IF;
  IF p_money IN ('settle', 'release') AND 'done' <> ledger_resolve(p_account, p_id, p_charge) THEN
    RAISE EXCEPTION 'the hold of task % does not take %', p_id, p_money;
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
  IF p_response IS NOT NULL THEN
    IF NOT response_store(
      p_account, p_id, (p_response ->> 'days')::integer, ARRAY(SELECT json_array_elements_text(p_response -> 'items'))::uuid[],
      (p_response ->> 'outputItems')::integer, p_response ->> 'sealed',
      ARRAY(SELECT json_array_elements_text(p_response -> 'newIds'))::uuid[],
      ARRAY(SELECT json_array_elements_text(p_response -> 'newSealed')), (p_response ->> 'maxBytes')::bigint)
    THEN
      body := response_deleted_body(p_id);
    END IF;
  END IF;
  IF p_delivery IS NOT NULL THEN
    PERFORM webhook_enqueue(p_account, p_delivery, p_id, p_url, p_origin, p_sealed_secret, body, p_told);
  END IF;
  RETURN true;
END $$;

-- Makes sure that a task whose submitter received an error costs nothing, once it has ended: what is left of its charge is
-- given back, also where its record was dropped; if the task never arrived, its id is taken, so that it cannot arrive later. A
-- task that has not ended is refused: it ends like every other, with its webhook. May be repeated. Returns what it did:
-- reversed, cancelled; nothing if there was nothing to do; missing if there is no such account, or it has moved to another cell.
CREATE OR REPLACE FUNCTION task_cancel(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
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
    IF NOT FOUND OR account_has_left(p_account) THEN
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
    IF known.run IS NOT NULL THEN
      PERFORM run_count(p_account, known.run, known.created_at, 0, -rest);
    END IF;
    RETURN 'reversed';
  END IF;
  RAISE EXCEPTION 'task % has not ended', p_id USING ERRCODE = 'serialization_failure';
END $$;

-- As above, and takes what was given back from the usage and the limit of the key. A journal of an earlier version does not
-- say what the task was: its key, model and endpoint are null.
CREATE OR REPLACE FUNCTION task_cancel_v2(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text)
RETURNS text LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  outcome text := task_cancel(p_account, p_id);
BEGIN
  IF outcome = 'reversed' AND p_endpoint IS NOT NULL THEN
    PERFORM record_note_late_reversal(p_account, p_id, p_api_key, p_model, p_endpoint);
  END IF;
  RETURN outcome;
END $$;

-- As version 0.1.0 calls it, whose processes may run beside this version: with the kind of the task.
CREATE OR REPLACE FUNCTION task_cancel(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_kind text)
RETURNS text LANGUAGE plpgsql SET jit = off AS $$
BEGIN
  RETURN task_cancel_v2(p_account, p_id, p_api_key, p_model, task_former_endpoint(p_kind));
END $$;

-- Gives back a part of the charge of a task, or what is left of it (p_amount null), as charge_refund_v2; also missing (no such
-- task of the account). As wherever a task ends, the task is locked before its account.
CREATE OR REPLACE FUNCTION task_refund_v3(
  p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, p_reason text, OUT outcome text,
  OUT entry bigint, OUT rest bigint
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  answer record;
BEGIN
  PERFORM FROM task WHERE account_id = p_account AND id = p_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    outcome := 'missing';
    RETURN;
  END IF;
  PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
  SELECT * INTO answer FROM charge_refund_v2(p_account, p_id, p_amount, p_key, p_note, p_reason);
  IF answer.is_new THEN
    UPDATE task SET refunded = charged - answer.rest + (
             SELECT amount FROM ledger_entry WHERE account_id = p_account AND position = answer.entry)
     WHERE account_id = p_account AND id = p_id;
  END IF;
  SELECT answer.outcome, answer.entry, answer.rest INTO outcome, entry, rest;
END $$;

-- As processes of version 0.1.0 call it.
CREATE OR REPLACE FUNCTION task_refund_v2(
  p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, OUT outcome text, OUT entry bigint, OUT rest bigint
) LANGUAGE sql AS $$
  SELECT * FROM task_refund_v3(p_account, p_id, p_amount, p_key, p_note, NULL);
$$;
