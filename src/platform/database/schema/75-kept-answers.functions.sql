-- Claims of one key come one after the other, those of calls and of tasks.
CREATE OR REPLACE FUNCTION key_lock(p_account uuid, p_endpoint text, p_key text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(p_account::text || p_endpoint || ' ' || p_key, 0));
$$;

-- Requests the right to make the call of an idempotency key, as the execution p_execution. May be repeated. Outcomes:
-- - claimed: the caller makes it. No other execution was or will be charged for the key, unless this one fails;
-- - bound: `execution` was charged for the key, and its answer was stored or never will be;
-- - busy: it is under way;
-- - conflict: the key has another body.
-- A key whose execution failed, or whose day is over, is free. So is one whose first request was never begun and seems dead: its
-- execution is cancelled first, so that it cannot begin later.
CREATE OR REPLACE FUNCTION call_key_claim(
  p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_execution uuid, p_model text, p_api_key uuid,
  p_lease_ms integer, OUT outcome text, OUT execution uuid
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  known call_key;
  status text;
BEGIN
  -- Most looks at a key that is known change nothing; they take no lock.
  SELECT * INTO known FROM call_key k WHERE k.account_id = p_account AND k.endpoint = p_endpoint AND k.key = p_key;
  IF FOUND AND known.execution_id <> p_execution THEN
    status := call_status(p_account, known.execution_id);
    IF status = 'running' OR (status IS DISTINCT FROM 'failed' AND known.lease_until > clock_timestamp()) THEN
      outcome := CASE WHEN known.fingerprint = ANY (p_fingerprints) THEN 'busy' ELSE 'conflict' END;
      RETURN;
    ELSIF status = 'succeeded' AND known.expires_at > clock_timestamp() THEN
      outcome := CASE WHEN known.fingerprint = ANY (p_fingerprints) THEN 'bound' ELSE 'conflict' END;
      execution := CASE outcome WHEN 'bound' THEN known.execution_id END;
      RETURN;
    END IF;
  END IF;
  PERFORM key_lock(p_account, p_endpoint, p_key);
  -- The endpoint of responses has tasks too, whose keys are claimed elsewhere. Their body is another one.
  IF EXISTS (SELECT FROM idempotency_key t WHERE t.account_id = p_account AND t.endpoint = p_endpoint AND t.key = p_key) THEN
    outcome := 'conflict';
    RETURN;
  END IF;
  INSERT INTO call_key AS k (account_id, endpoint, key, fingerprint, execution_id, model, lease_until, expires_at)
    VALUES (p_account, p_endpoint, p_key, p_fingerprints[1], p_execution, p_model,
            clock_timestamp() + p_lease_ms * interval '1 millisecond', clock_timestamp() + interval '1 day')
    ON CONFLICT DO NOTHING;
  IF FOUND THEN
    outcome := 'claimed';
    RETURN;
  END IF;
  SELECT * INTO known FROM call_key k
   WHERE k.account_id = p_account AND k.endpoint = p_endpoint AND k.key = p_key FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'busy';
    RETURN;
  END IF;
  IF known.execution_id = p_execution THEN
    outcome := 'claimed';
    RETURN;
  END IF;
  status := call_status(p_account, known.execution_id);
  IF status IS NULL AND known.lease_until <= clock_timestamp() AND known.expires_at > clock_timestamp() THEN
    -- Under the lock of the account a hold that is being made is seen, and none can be made between the look and the cancellation.
    PERFORM FROM account a WHERE a.id = p_account FOR NO KEY UPDATE;
    status := call_status(p_account, known.execution_id);
    IF status IS NULL THEN
      PERFORM execution_cancel(p_account, known.execution_id, p_api_key, known.model, p_endpoint, 'client_left', NULL, NULL);
      status := call_status(p_account, known.execution_id);
    END IF;
  END IF;
  IF status = 'failed' OR (status IS DISTINCT FROM 'running' AND known.expires_at <= clock_timestamp()) THEN
    UPDATE call_key k
       SET fingerprint = p_fingerprints[1], execution_id = p_execution, model = p_model,
           lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond',
           expires_at = clock_timestamp() + interval '1 day'
     WHERE k.account_id = p_account AND k.endpoint = p_endpoint AND k.key = p_key;
    outcome := 'claimed';
  ELSIF NOT known.fingerprint = ANY (p_fingerprints) THEN
    outcome := 'conflict';
  ELSIF status = 'succeeded' AND known.lease_until <= clock_timestamp() THEN
    outcome := 'bound';
    execution := known.execution_id;
  ELSE
    outcome := 'busy';
  END IF;
END $$;

-- The status of a call as it is committed now; null: there is none.
CREATE OR REPLACE FUNCTION call_status(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN (SELECT e.status FROM execution e WHERE e.account_id = p_account AND e.id = p_id);
END $$;

-- Keeps the answer of a call for a day. False, and nothing is kept, where the account would have more than p_max_bytes, and for a
-- call that had begun when all of the account was erased.
CREATE OR REPLACE FUNCTION answer_keep(
  p_account uuid, p_id uuid, p_content_type text, p_headers jsonb, p_bytes integer, p_sealed text, p_max_bytes bigint
) RETURNS boolean LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  total bigint;
  erased timestamptz;
BEGIN
  INSERT INTO stored_content (account_id, bytes) VALUES (p_account, 0) ON CONFLICT DO NOTHING;
  -- Megabytes are written before the account is locked; most of what does not fit is seen without.
  IF (SELECT kept_bytes + p_bytes > p_max_bytes FROM stored_content WHERE account_id = p_account) THEN
    RETURN false;
  END IF;
  INSERT INTO kept_answer (account_id, id, expires_at, content_type, headers, bytes, sealed_answer)
    VALUES (p_account, p_id, now() + interval '1 day', p_content_type, p_headers, p_bytes, p_sealed) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN true;
  END IF;
  SELECT kept_bytes, erased_at INTO total, erased FROM stored_content WHERE account_id = p_account FOR UPDATE;
  IF total + p_bytes > p_max_bytes OR erased >= (SELECT created_at FROM execution WHERE account_id = p_account AND id = p_id) THEN
    DELETE FROM kept_answer WHERE account_id = p_account AND id = p_id;
    RETURN false;
  END IF;
  UPDATE stored_content SET kept_bytes = kept_bytes + p_bytes WHERE account_id = p_account;
  RETURN true;
END $$;

-- As answer_keep, for an answer in the stored file p_file, whose key is p_sealed_key. The file lasts as long as the answer from now
-- on. Raises no_data_found, and keeps nothing, if the file is not stored.
CREATE OR REPLACE FUNCTION answer_keep_file(
  p_account uuid, p_id uuid, p_content_type text, p_headers jsonb, p_bytes integer, p_file uuid, p_sealed_key text,
  p_max_bytes bigint
) RETURNS boolean LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  until timestamptz;
BEGIN
  IF NOT answer_keep(p_account, p_id, p_content_type, p_headers, p_bytes, p_sealed_key, p_max_bytes) THEN
    RETURN false;
  END IF;
  UPDATE kept_answer SET file_id = p_file WHERE account_id = p_account AND id = p_id RETURNING expires_at INTO until;
  UPDATE stored_file SET expires_at = until
   WHERE account_id = p_account AND id = p_file AND state = 'stored' AND expires_at > 'epoch';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the file of the answer is not stored' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN true;
END $$;

-- Forgets up to p_limit answers and as many keys whose day is over; returns how many. What another transaction has waits for the
-- next time. A key that is still under way stays.
CREATE OR REPLACE FUNCTION answer_sweep(p_limit integer) RETURNS integer LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  due record;
  freed bigint;
  forgotten integer := 0;
  keys integer;
BEGIN
  -- The limit counts what can be forgotten now: accounts that another transaction has are passed over.
  FOR due IN
    SELECT k.account_id, k.id FROM kept_answer k JOIN stored_content s ON s.account_id = k.account_id
     WHERE k.expires_at <= now() ORDER BY k.expires_at LIMIT p_limit FOR UPDATE OF s SKIP LOCKED
  LOOP
    DELETE FROM kept_answer WHERE account_id = due.account_id AND id = due.id RETURNING bytes INTO freed;
    CONTINUE WHEN NOT FOUND;
    UPDATE stored_content SET kept_bytes = kept_bytes - freed WHERE account_id = due.account_id;
    forgotten := forgotten + 1;
  END LOOP;
  WITH stale AS (
    SELECT account_id, endpoint, key FROM call_key WHERE expires_at <= now() AND lease_until <= now()
     ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED), gone AS (
    DELETE FROM call_key k USING stale s
     WHERE k.account_id = s.account_id AND k.endpoint = s.endpoint AND k.key = s.key RETURNING 1)
  SELECT count(*) INTO keys FROM gone;
  RETURN forgotten + keys;
END $$;
