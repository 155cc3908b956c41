-- Stores a response for p_days with the new ones of its items, and forgets the oldest responses of the account while it has more
-- than p_max_bytes. One statement may store the responses of many tasks, which come to their oldest ones in any order, so it waits
-- for no delivery: a response whose webhook is being recorded is forgotten by the next one. False, and nothing is stored, for a response that had begun when all of the account was erased. Raises
-- no_data_found, and stores nothing, if a listed item is neither new nor stored any more.
CREATE OR REPLACE FUNCTION response_store(p_account uuid, p_id uuid, p_days integer, p_items uuid[], p_output_items integer,
  p_sealed text, p_new_ids uuid[], p_new_sealed text[], p_max_bytes bigint) RETURNS boolean LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  listed uuid[] := ARRAY(SELECT DISTINCT unnest(p_items));
  until timestamptz := now() + p_days * interval '1 day';
  own integer := octet_length(p_sealed) + 16 * cardinality(p_items);
  known integer;
  added bigint;
  total bigint;
  oldest uuid;
  erased timestamptz;
BEGIN
  INSERT INTO stored_content (account_id, bytes) VALUES (p_account, 0) ON CONFLICT DO NOTHING;
  SELECT bytes, erased_at INTO total, erased FROM stored_content WHERE account_id = p_account FOR UPDATE;
  IF erased >= coalesce((SELECT created_at FROM task WHERE account_id = p_account AND id = p_id),
                        (SELECT created_at FROM execution WHERE account_id = p_account AND id = p_id), '-infinity') THEN
    RETURN false;
  END IF;
  UPDATE stored_item SET lists = lists + 1, listed_until = greatest(listed_until, until)
   WHERE account_id = p_account AND id = ANY (listed);
  GET DIAGNOSTICS known = ROW_COUNT;
  WITH fresh AS (
    INSERT INTO stored_item (account_id, id, lists, listed_until, bytes, sealed_item)
      SELECT p_account, n.id, 1, until, octet_length(n.sealed), n.sealed
        FROM unnest(p_new_ids, p_new_sealed) n (id, sealed) WHERE n.id = ANY (listed)
      ON CONFLICT DO NOTHING
    RETURNING bytes)
  SELECT count(*) + known, coalesce(sum(bytes), 0) + own INTO known, added FROM fresh;
  IF known < cardinality(listed) THEN
    RAISE EXCEPTION 'an item of the response is not stored any more' USING ERRCODE = 'no_data_found';
  END IF;
  INSERT INTO stored_response (account_id, id, expires_at, items, output_items, bytes, sealed_response)
    VALUES (p_account, p_id, until, p_items, p_output_items, own, p_sealed);
  UPDATE stored_content SET bytes = bytes + added WHERE account_id = p_account;
  total := total + added;
  IF total > p_max_bytes THEN
    FOR oldest IN SELECT id FROM stored_response WHERE account_id = p_account AND id <> p_id ORDER BY id LOOP
      EXIT WHEN total <= p_max_bytes;
      CONTINUE WHEN NOT response_redact_free(p_account, oldest);
      total := total - response_drop(p_account, oldest);
    END LOOP;
  END IF;
  RETURN true;
END $$;

-- What a webhook has told of a response, which a receiver gets from now on if it is sent again.
CREATE OR REPLACE FUNCTION response_deleted_body(p_id uuid) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT convert_to(
    format('{"id":"resp_%s","object":"response.deleted","deleted":true}', replace(p_id::text, '-', '')), 'UTF8')
$$;

-- Takes what webhooks told of a response out of the log; false, and nothing is changed, where another transaction has one of them.
CREATE OR REPLACE FUNCTION response_redact_free(p_account uuid, p_id uuid) RETURNS boolean LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  own uuid[] := ARRAY(SELECT id FROM webhook_delivery WHERE owner_id = p_id AND account_id = p_account FOR UPDATE SKIP LOCKED);
BEGIN
  IF EXISTS (SELECT FROM webhook_delivery WHERE owner_id = p_id AND account_id = p_account AND id <> ALL (own)) THEN
    RETURN false;
  END IF;
  UPDATE webhook_delivery SET body = response_deleted_body(p_id) WHERE owner_id = p_id AND account_id = p_account AND id = ANY (own);
  RETURN true;
END $$;

-- Takes what webhooks told of these responses out of the log. Of all deliveries of a transaction this comes once and last: it
-- locks them in the order of webhook_record, whose batches would otherwise wait for it while it waits for them.
CREATE OR REPLACE FUNCTION response_redact(p_accounts uuid[], p_ids uuid[]) RETURNS void LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  PERFORM FROM unnest(p_accounts, p_ids) r (account_id, id)
    JOIN webhook_delivery d ON d.owner_id = r.id AND d.account_id = r.account_id
   ORDER BY d.account_id, d.id FOR UPDATE OF d;
  UPDATE webhook_delivery d SET body = response_deleted_body(r.id) FROM unnest(p_accounts, p_ids) r (account_id, id)
   WHERE d.owner_id = r.id AND d.account_id = r.account_id;
END $$;

-- Forgets a response and the items that no other response lists, but not what its webhook told (response_redact). Whoever calls it
-- has the row of stored_content. Returns the bytes that this frees; null if it is not stored.
CREATE OR REPLACE FUNCTION response_drop(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  gone stored_response;
  freed bigint;
BEGIN
  DELETE FROM stored_response WHERE account_id = p_account AND id = p_id RETURNING * INTO gone;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  WITH unlisted AS (
    DELETE FROM stored_item WHERE account_id = p_account AND id = ANY (gone.items) AND lists = 1 RETURNING bytes)
  SELECT gone.bytes + coalesce(sum(bytes), 0) INTO freed FROM unlisted;
  UPDATE stored_item SET lists = lists - 1 WHERE account_id = p_account AND id = ANY (gone.items);
  UPDATE stored_content SET bytes = bytes - freed WHERE account_id = p_account;
  RETURN freed;
END $$;

-- As response_drop, unless another transaction has the account's row of stored_content: null then.
CREATE OR REPLACE FUNCTION response_drop_free(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  PERFORM FROM stored_content WHERE account_id = p_account FOR UPDATE SKIP LOCKED;
  RETURN CASE WHEN FOUND THEN response_drop(p_account, p_id) END;
END $$;

-- Forgets a response, what its webhook told, and the items that no other response lists. Returns the bytes that this frees; null if it is not stored.
CREATE OR REPLACE FUNCTION response_forget(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  freed bigint;
BEGIN
  PERFORM FROM stored_content WHERE account_id = p_account FOR UPDATE;
  freed := response_drop(p_account, p_id);
  IF freed IS NOT NULL THEN
    PERFORM response_redact(ARRAY[p_account], ARRAY[p_id]);
  END IF;
  RETURN freed;
END $$;

-- Forgets responses that have expired, and the oldest of all accounts while these have more than p_max_bytes; up to p_limit of
-- each. Returns how many. One process at a time: another one that sweeps meanwhile gets 0. It waits for no account: a response of
-- one whose row another transaction has is left for the next time.
CREATE OR REPLACE FUNCTION response_sweep(p_max_bytes bigint, p_limit integer) RETURNS integer LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  due record;
  excess bigint;
  freed bigint;
  accounts uuid[] := '{}';
  dropped uuid[] := '{}';
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('response_sweep')) THEN
    RETURN 0;
  END IF;
  FOR due IN SELECT account_id, id FROM stored_response WHERE expires_at <= now() ORDER BY expires_at LIMIT p_limit LOOP
    IF response_drop_free(due.account_id, due.id) IS NOT NULL THEN
      accounts := accounts || due.account_id;
      dropped := dropped || due.id;
    END IF;
  END LOOP;
  excess := coalesce((SELECT sum(bytes) FROM stored_content), 0) - p_max_bytes;
  IF excess > 0 THEN
    FOR due IN SELECT account_id, id FROM stored_response ORDER BY id, account_id LIMIT p_limit LOOP
      EXIT WHEN excess <= 0;
      freed := response_drop_free(due.account_id, due.id);
      IF freed IS NOT NULL THEN
        excess := excess - freed;
        accounts := accounts || due.account_id;
        dropped := dropped || due.id;
      END IF;
    END LOOP;
  END IF;
  PERFORM response_redact(accounts, dropped);
  RETURN cardinality(dropped);
END $$;

-- Forgets everything that is stored for an account, and what webhooks told of its responses. What is still being made will not be
-- stored (response_store). Returns how many responses that were.
CREATE OR REPLACE FUNCTION response_erase(p_account uuid) RETURNS integer LANGUAGE plpgsql
  SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  forgotten integer;
  told uuid[];
BEGIN
  INSERT INTO stored_content (account_id, bytes) VALUES (p_account, 0) ON CONFLICT DO NOTHING;
  PERFORM FROM stored_content WHERE account_id = p_account FOR UPDATE;
  DELETE FROM stored_response WHERE account_id = p_account;
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  DELETE FROM stored_item WHERE account_id = p_account;
  -- The files cannot be read without the keys in these rows; the sweeper removes them.
  WITH gone AS (DELETE FROM kept_answer WHERE account_id = p_account RETURNING file_id)
  UPDATE stored_file f SET expires_at = 'epoch' FROM gone g WHERE f.account_id = p_account AND f.id = g.file_id;
  UPDATE stored_content SET bytes = 0, kept_bytes = 0, erased_at = clock_timestamp() WHERE account_id = p_account;
  SELECT coalesce(array_agg(id), '{}') INTO told FROM task WHERE account_id = p_account AND kind = 'response';
  PERFORM response_redact(array_fill(p_account, ARRAY[cardinality(told)]), told);
  RETURN forgotten;
END $$;
