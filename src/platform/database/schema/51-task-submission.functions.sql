-- Submissions of tasks. No plan may read all tasks, even if it was made while the tables were empty. Whatever touches a task
-- takes its locks in one order: work, task, account, idempotency key.

-- The endpoint of a task that does not name it: version 0.1.0 wrote it, which had three kinds.
CREATE OR REPLACE FUNCTION task_former_endpoint(p_kind text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_kind WHEN 'dubbing' THEN '/v1/audio/dubbing' WHEN 'song' THEN '/v1/music/generations'
                     WHEN 'video' THEN '/v1/videos' ELSE p_kind END;
$$;

-- Claims the right to submit a task with an idempotency key. Outcomes: claimed (until the lease ends), bound (the key has a
-- task), busy (another request with the same body has the claim), conflict (the key was used with another body).
-- p_fingerprints are those of the same body by each secret key, the newest first.
CREATE OR REPLACE FUNCTION idempotency_claim(
  p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_token uuid, p_lease_ms integer, OUT outcome text,
  OUT task uuid
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  known idempotency_key;
  lease_end timestamptz := now() + p_lease_ms * interval '1 millisecond';
BEGIN
  -- The endpoint of responses has synchronous calls too. Their body is another one.
  PERFORM key_lock(p_account, p_endpoint, p_key);
  IF EXISTS (
    SELECT FROM call_key k WHERE k.account_id = p_account AND k.endpoint = p_endpoint AND k.key = p_key
       AND k.expires_at > clock_timestamp() AND call_status(p_account, k.execution_id) IS DISTINCT FROM 'failed'
  ) THEN
    outcome := 'conflict';
    RETURN;
  END IF;
  INSERT INTO idempotency_key (account_id, endpoint, key, fingerprint, token, lease_until)
    VALUES (p_account, p_endpoint, p_key, p_fingerprints[1], p_token, lease_end) ON CONFLICT DO NOTHING;
  IF FOUND THEN
    outcome := 'claimed';
    RETURN;
  END IF;
  SELECT * INTO known FROM idempotency_key
    WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'busy';
  ELSIF known.task_id IS NOT NULL THEN
    outcome := CASE WHEN known.fingerprint = ANY (p_fingerprints) THEN 'bound' ELSE 'conflict' END;
    task := known.task_id;
  ELSIF known.token = p_token OR known.lease_until < now() THEN
    UPDATE idempotency_key SET fingerprint = p_fingerprints[1], token = p_token, lease_until = lease_end
      WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key;
    outcome := 'claimed';
  ELSE
    outcome := CASE WHEN known.fingerprint = ANY (p_fingerprints) THEN 'busy' ELSE 'conflict' END;
  END IF;
END $$;

-- As idempotency_claim. Whoever gets the claim notes p_sent, the fingerprint of the body as it was sent.
CREATE OR REPLACE FUNCTION idempotency_claim_sent(
  p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_token uuid, p_lease_ms integer, p_sent bytea,
  OUT outcome text, OUT task uuid
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  SELECT c.outcome, c.task INTO outcome, task
    FROM idempotency_claim(p_account, p_endpoint, p_key, p_fingerprints, p_token, p_lease_ms) c;
  IF outcome = 'claimed' THEN
    UPDATE idempotency_key SET sent_fingerprint = p_sent
     WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key AND token = p_token;
  END IF;
END $$;

-- Writes hold, task, its first work and the use of its idempotency key, if it has one, in one transaction. p_endpoint is the
-- path of the call; processes of version 0.1.0 give it with a key only. A submission that is repeated while
-- its first try is being committed finds the task of that try. Outcomes: created (also when it was done before), claim_lost
-- (another request has the claim on the key now), insufficient, conflict, missing (no such account).
CREATE OR REPLACE FUNCTION task_submit(
  p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text, p_input text,
  p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint,
  p_unit text, p_quantity jsonb, p_unit_price jsonb, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text,
  p_token uuid, OUT outcome text, OUT created timestamptz
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  counted_at timestamptz;
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
    IF outcome = 'insufficient' THEN
      PERFORM account_tell_depleted(p_account);
    END IF;
    RETURN;
  END IF;
  INSERT INTO task (account_id, id, api_key_id, kind, modality, model, client_request_id, sealed_input, details, provider,
                    provider_base_url, on_sandbox, upstream_model, reserved, unit, quantity, unit_price, webhook_url,
                    webhook_secret, endpoint, maker_counted_at)
    VALUES (p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider,
            p_base_url, p_on_sandbox, p_upstream_model, p_amount, p_unit, p_quantity, p_unit_price, p_webhook_url,
            p_webhook_secret, p_endpoint,
            (SELECT clock_timestamp() FROM api_key WHERE id = p_api_key AND maker_id IS NOT NULL))
    RETURNING created_at, maker_counted_at INTO created, counted_at;
  IF counted_at IS NOT NULL THEN
    PERFORM maker_note_spend(p_account, p_api_key, counted_at, p_amount);
  END IF;
  INSERT INTO task_work (account_id, task_id, lane, phase) VALUES (p_account, p_id, p_lane, 'waiting');
  IF p_key IS NOT NULL THEN
    UPDATE idempotency_key SET task_id = p_id WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key;
  END IF;
  outcome := 'created';
END $$;

-- How many open tasks of a kind an account has, up to p_most. Responses have an index of their own, which a plan for any kind
-- could not use: an account may have many open tasks of other kinds, and it is locked meanwhile.
CREATE OR REPLACE FUNCTION task_open_count(p_account uuid, p_kind text, p_most integer) RETURNS bigint LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
  IF p_kind = 'response' THEN
    RETURN (SELECT count(*) FROM (SELECT FROM task
             WHERE account_id = p_account AND kind = 'response' AND status IN ('queued', 'processing') LIMIT p_most) o);
  END IF;
  RETURN (SELECT count(*) FROM (SELECT FROM task
           WHERE account_id = p_account AND kind = p_kind AND status IN ('queued', 'processing') LIMIT p_most) o);
END $$;

-- As task_submit, and looks at the limit of the key and of its maker (p_capped) and at that of its run (p_run), for which the task
-- counts too; the first use of a run sets its limit (p_run_limit). The outcome may also be over_limit, over_run, run_conflict (the
-- run has another limit). `room` is the least of what the account and the limits left before, for run_conflict the run's limit.
-- Where p_floor is given, it holds what fits, as execution_step_v3 does (decision G-106): `reserved` is the hold, `bound_by` what
-- bound it: balance, key, run, model. The task's memory keeps the latter (outputCapReason), which operators see.
-- With p_most_open the account has at most so many open tasks of this kind; beyond it the outcome is too_many_open.
CREATE OR REPLACE FUNCTION task_submit_v2(
  p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text, p_input text,
  p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint,
  p_unit text, p_quantity jsonb, p_unit_price jsonb, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text,
  p_token uuid, p_capped boolean, p_run text, p_run_limit bigint, p_price_book jsonb,
  p_route_cost bigint DEFAULT NULL, p_floor bigint DEFAULT NULL, p_prompt bigint DEFAULT NULL,
  p_most_open integer DEFAULT NULL, OUT outcome text, OUT created timestamptz, OUT room bigint, OUT reserved bigint, OUT bound_by text
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  key_leaves bigint;
  run_leaves bigint;
  period timestamptz;
  maker uuid;
  known run;
  bound text;
  is_new boolean;
  amount bigint := p_amount;
BEGIN
  SELECT posted - held INTO room FROM account WHERE id = p_account FOR NO KEY UPDATE;
  is_new := (p_capped OR num_nonnulls(p_run, p_most_open, p_price_book, p_route_cost, p_floor) > 0)
            AND NOT EXISTS (SELECT FROM task WHERE account_id = p_account AND id = p_id);
  IF is_new AND p_most_open IS NOT NULL AND p_most_open <= task_open_count(p_account, p_kind, p_most_open) THEN
    outcome := 'too_many_open';
    RETURN;
  END IF;
  IF is_new AND p_capped THEN
    SELECT r.room, r.counts_in INTO key_leaves, period FROM key_room(p_account, p_api_key) r;
    SELECT maker_id INTO maker FROM api_key WHERE id = p_api_key;
    IF maker IS NOT NULL THEN
      key_leaves := least(key_leaves, (SELECT r.room FROM key_room(p_account, maker) r));
    END IF;
    IF key_leaves <= room THEN
      room := key_leaves;
      bound := 'over_limit';
    END IF;
  END IF;
  IF is_new AND p_run IS NOT NULL THEN
    SELECT * INTO known FROM run WHERE account_id = p_account AND id = p_run;
    IF FOUND AND p_run_limit IS NOT NULL AND p_run_limit IS DISTINCT FROM known.spend_limit THEN
      outcome := 'run_conflict';
      room := known.spend_limit;
      RETURN;
    END IF;
    run_leaves := CASE WHEN FOUND THEN known.spend_limit - known.spent - known.held ELSE p_run_limit END;
    IF run_leaves < room OR (run_leaves = room AND bound IS NULL) THEN
      room := run_leaves;
      bound := 'over_run';
    END IF;
  END IF;
  IF p_floor IS NOT NULL THEN
    amount := least(p_amount, greatest(p_floor, least(room, p_prompt + room / 8)));
  END IF;
  IF bound IS NOT NULL AND amount > room THEN
    outcome := bound;
    RETURN;
  END IF;
  SELECT t.outcome, t.created INTO outcome, created FROM task_submit(
    p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider, p_base_url,
    p_on_sandbox, p_upstream_model, p_lane, amount, p_unit, p_quantity, p_unit_price, p_webhook_url, p_webhook_secret,
    p_endpoint, p_key, p_token) t;
  IF outcome = 'created' AND p_floor IS NOT NULL THEN
    -- A repeated submission finds what the first one held, and what bound it.
    SELECT t.reserved, t.memory ->> 'outputCapReason' INTO reserved, bound_by FROM task t WHERE t.account_id = p_account AND t.id = p_id;
    bound_by := coalesce(bound_by, CASE WHEN reserved = p_amount THEN 'model' WHEN bound = 'over_limit' THEN 'key'
                                        WHEN bound = 'over_run' THEN 'run' ELSE 'balance' END);
  END IF;
  -- A repeated submission changes nothing: the task may have gone to another route, which has another cost.
  IF is_new AND outcome = 'created'
     AND num_nonnulls(period, p_run, p_price_book, p_route_cost, bound_by) > 0 THEN
    UPDATE task
       SET spend_period = period, run = p_run, price_book = p_price_book, route_cost = p_route_cost,
           memory = CASE WHEN bound_by IS NULL THEN memory ELSE json_build_object('outputCapReason', bound_by) END
     WHERE account_id = p_account AND id = p_id;
  END IF;
  IF is_new AND outcome = 'created' AND p_run IS NOT NULL THEN
    INSERT INTO run AS u (account_id, id, spend_limit, held, calls) VALUES (p_account, p_run, p_run_limit, amount, 1)
      ON CONFLICT (account_id, id) DO UPDATE SET held = u.held + excluded.held, calls = u.calls + 1, last_used_at = now();
    PERFORM run_tell_limit(p_account, p_run);
  END IF;
END $$;
