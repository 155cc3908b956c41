-- The functions that begin and end synchronous calls: many calls of many accounts in one durable statement.

-- Ends calls, then begins calls, so that the calls that begin can use the money that the ends free. `p_accounts` are distinct
-- and in order; each call names its account by position. Accounts are locked in that order. An account that another
-- transaction has locked is left out and its calls return `locked`, unless `p_waits`. Outcomes, in the order of the calls:
-- - ends (e_): done (also when it was done before), conflict (ended in another way), excess (the charge is above what is
--   held), missing;
-- - starts (s_): held (also when it was held before), insufficient, over_limit (of its key), over_run (of its run), run_conflict
--   (the run has another limit), conflict (the id was used for another call), missing (no account).
--
-- A start holds s_amounts. Where s_floors is given it holds what fits (decision G-106): beside the price of the prompt
-- (s_prompts) an eighth of what is available, at most s_amounts and at least s_floors. What is available is the least of what
-- the account, the limit of its key, that of the key's maker (looked at where s_capped) and that of its run leave. The first
-- start of a run (s_run) sets the limit of the run (s_run_limits). A start that is refused returns what is available (`rooms`; for
-- run_conflict the limit of the run); one that is held, what it holds (`amounts`). What is available is bounded by the balance, the
-- key or the run: refusals and fitted holds return which (`bounds`; model where a fitted hold took all of s_amounts). The runs of the
-- calls (p_runs, of p_run_accounts) are distinct; calls name their runs by position. Where no call has a run, what tells of runs is
-- empty; where no end has a cost, e_costs is; where none has attempts to keep, e_attempts is.
--
-- Calls are tried in order of arrival, and each that fits begins. Two starts of one id in one call fail all of it.
--
-- The steps are statements over sets, not several statements per call, so that a call costs the server less than the round
-- trip. A session plans each statement once, perhaps while the tables are empty, and must never come to read them whole: rows
-- are looked up one by one, and accounts and runs are rewritten at the place where they were found. A place names a row of each
-- part of a table that is partitioned, so the key has to be right too (IS TRUE: no index is read for it). While a snapshot is
-- open, as a dump holds one, PostgreSQL keeps every version of an account's row; accounts are looked up backwards, so that the
-- newest version is found first and the others are not read.
CREATE OR REPLACE FUNCTION execution_step_v3(
  p_accounts uuid[], p_process uuid, p_waits boolean,
  e_account integer[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[],
  e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[],
  e_first_byte_ms integer[], e_duration_ms integer[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[],
  e_uncharged jsonb[], e_output_caps integer[], e_costs bigint[], e_attempts jsonb[], e_run integer[],
  s_account integer[], s_ids uuid[], s_amounts bigint[], s_floors bigint[], s_prompts bigint[], s_keys uuid[],
  s_capped boolean[], s_models text[], s_endpoints text[], s_client_requests text[], s_run integer[], s_run_limits bigint[],
  s_price_books jsonb[], p_runs text[], p_run_accounts integer[],
  OUT ended text[], OUT begun text[], OUT amounts bigint[], OUT rooms bigint[], OUT bounds text[]
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  n int := cardinality(p_accounts);
  places tid[] := array_fill(NULL::tid, ARRAY[n]);
  refusals text[] := array_fill('locked'::text, ARRAY[n]);
  old_posted bigint[] := array_fill(NULL::bigint, ARRAY[n]);
  old_held bigint[] := old_posted;
  new_posted bigint[];
  new_held bigint[];
  done bigint[];
  done_held bigint[];
  done_created timestamptz[];
  are_of_runs boolean;
  balances bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(e_ids)]);
  row record;
  k int;
  found_accounts int := 0;
  keys uuid[] := '{}';
  key_accounts uuid[] := '{}';
  key_rooms bigint[] := '{}';
  key_periods timestamptz[] := '{}';
  key_makers uuid[] := '{}';
  key_taken bigint[] := '{}';
  key_of int[];
  counted_at timestamptz;
  -- What is left of a run without a limit.
  unlimited CONSTANT bigint := 4000000000000000000;
  run_places tid[];
  run_created timestamptz[];
  run_limits bigint[];
  run_rooms bigint[];
  rooms_before bigint[];
  run_spent bigint[];
  run_calls bigint[];
  q int;
  m int;
  r int;
  room bigint;
  bound text;
  amount bigint;
BEGIN
  -- Between an id and itself, backwards: the newest version of a row lies behind the older ones, all of which a snapshot keeps.
  IF p_waits THEN
    PERFORM FROM unnest(p_accounts) p (id), LATERAL (
      SELECT FROM account a WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE) locked;
  END IF;
  FOR row IN
    SELECT p.position, locked.*
      FROM unnest(p_accounts) WITH ORDINALITY p (id, position), LATERAL (
        SELECT a.ctid AS place, a.posted, a.held FROM account a
         WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) locked
  LOOP
    places[row.position] := row.place;
    old_posted[row.position] := row.posted;
    old_held[row.position] := row.held;
    found_accounts := found_accounts + 1;
  END LOOP;
  IF found_accounts < n THEN
    FOR row IN
      SELECT p.position FROM unnest(p_accounts) WITH ORDINALITY p (id, position)
       WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = p.id)
    LOOP
      refusals[row.position] := 'missing';
    END LOOP;
  END IF;
  new_posted := old_posted;
  new_held := old_held;

  IF cardinality(p_runs) > 0 THEN
    -- Each run is read once here and rewritten once below, by its place: whoever changes it has locked the account.
    SELECT array_agg(u.place ORDER BY i), array_agg(u.created_at ORDER BY i), array_agg(u.spend_limit ORDER BY i),
           array_agg(coalesce(u.spend_limit, unlimited) - coalesce(u.spent + u.held, 0) ORDER BY i)
      INTO run_places, run_created, run_limits, run_rooms
      FROM unnest(p_runs, p_run_accounts) WITH ORDINALITY t (id, account, i)
      LEFT JOIN (SELECT r.ctid AS place, r.* FROM run r) u ON u.account_id = p_accounts[t.account] AND u.id = t.id;
    rooms_before := run_rooms;
    run_spent := array_fill(0::bigint, ARRAY[cardinality(p_runs)]);
    run_calls := run_spent;
  END IF;

  ended := array_fill(NULL::text, ARRAY[cardinality(e_ids)]);
  WITH changed AS (
    UPDATE execution e
       SET status = CASE WHEN e_charges[i] IS NULL THEN 'failed' ELSE 'succeeded' END, completed_at = now(),
           charged = e_charges[i], error_code = e_errors[i], provider = e_providers[i],
           upstream_model = e_upstream_models[i], provider_request_id = e_requests[i], unit = e_units[i],
           quantity = e_quantities[i], unit_price = e_unit_prices[i], estimated = e_estimated[i],
           first_byte_ms = e_first_byte_ms[i], duration_ms = e_duration_ms[i], provider_fault = e_provider_faults[i],
           capped = e_capped[i], provider_figures = e_figures[i], uncharged = e_uncharged[i],
           output_cap = e_output_caps[i], cost = e_costs[i], attempts = e_attempts[i]
      FROM unnest(e_ids) WITH ORDINALITY t (id, i)
     WHERE places[e_account[i]] IS NOT NULL AND e.account_id = p_accounts[e_account[i]] AND e.id = t.id
       AND e.status = 'running' AND coalesce(e_charges[i], 0) <= e.held
    RETURNING i, e.held, e.run, e.created_at)
  -- In the order in which the entries are inserted: each has the balance after it.
  SELECT array_agg(c.i ORDER BY c.i), array_agg(c.held ORDER BY c.i), array_agg(c.created_at ORDER BY c.i),
         bool_and(c.run IS NOT DISTINCT FROM p_runs[e_run[c.i]])
    INTO done, done_held, done_created, are_of_runs FROM changed c;
  IF NOT are_of_runs THEN
    RAISE EXCEPTION 'a call ends in another run than it began' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  FOR j IN 1 .. coalesce(cardinality(done), 0) LOOP
    m := done[j];
    k := e_account[m];
    ended[m] := 'done';
    new_held[k] := new_held[k] - done_held[j];
    IF e_charges[m] > 0 THEN
      new_posted[k] := new_posted[k] - e_charges[m];
      balances[m] := new_posted[k];
    END IF;
    r := e_run[m];
    IF r IS NOT NULL AND run_began_before(run_created[r], done_created[j]) THEN
      run_rooms[r] := run_rooms[r] + done_held[j] - coalesce(e_charges[m], 0);
      run_spent[r] := run_spent[r] + coalesce(e_charges[m], 0);
    END IF;
  END LOOP;
  IF array_position(ended, NULL) IS NOT NULL THEN
    SELECT array_agg(
             CASE WHEN ended[t.position] IS NOT NULL THEN ended[t.position]
                  WHEN places[t.account] IS NULL THEN refusals[t.account]
                  WHEN e.status IS NULL THEN 'missing'
                  WHEN e.status = 'running' THEN 'excess'
                  WHEN e.charged IS NOT DISTINCT FROM t.charge THEN 'done' ELSE 'conflict' END ORDER BY t.position)
      INTO ended
      FROM unnest(e_account, e_ids, e_charges) WITH ORDINALITY t (account, id, charge, position)
      LEFT JOIN LATERAL (
        SELECT status, charged FROM execution x
         WHERE x.account_id = p_accounts[t.account] AND x.id = t.id OFFSET 0) e ON true;
  END IF;

  begun := array_fill(NULL::text, ARRAY[cardinality(s_ids)]);
  amounts := array_fill(NULL::bigint, ARRAY[cardinality(s_ids)]);
  rooms := amounts;
  bounds := begun;
  key_of := array_fill(NULL::int, ARRAY[cardinality(s_ids)]);
  FOR row IN
    SELECT t.i AS position, x.held, x.output_cap_reason,
           CASE WHEN x.status = 'running' AND x.held BETWEEN coalesce(s_floors[i], s_amounts[i]) AND s_amounts[i]
                THEN 'held' ELSE 'conflict' END AS outcome
      FROM unnest(s_ids) WITH ORDINALITY t (id, i)
      JOIN execution x ON x.account_id = p_accounts[s_account[i]] AND x.id = t.id
     WHERE places[s_account[i]] IS NOT NULL
  LOOP
    begun[row.position] := row.outcome;
    amounts[row.position] := row.held;
    bounds[row.position] := row.output_cap_reason;
  END LOOP;
  IF true = ANY (s_capped) THEN
    counted_at := clock_timestamp();
    FOR row IN
      WITH used AS (
        SELECT DISTINCT p_accounts[t.account] AS account, t.key, a.maker_id AS maker
          FROM unnest(s_account, s_keys, s_capped, begun) t (account, key, capped, outcome) JOIN api_key a ON a.id = t.key
         WHERE t.capped AND t.outcome IS NULL AND places[t.account] IS NOT NULL)
      SELECT u.account, u.key, u.maker, r.room, r.counts_in
        FROM (SELECT account, key, maker FROM used
              UNION
              SELECT account, maker, NULL FROM used WHERE maker IS NOT NULL AND maker NOT IN (SELECT key FROM used)) u,
             LATERAL key_room(u.account, u.key) r
    LOOP
      keys := keys || row.key;
      key_accounts := key_accounts || row.account;
      key_rooms := key_rooms || row.room;
      key_periods := key_periods || row.counts_in;
      key_makers := key_makers || row.maker;
      key_taken := key_taken || 0::bigint;
    END LOOP;
  END IF;

  FOR i IN 1 .. cardinality(s_ids) LOOP
    CONTINUE WHEN begun[i] IS NOT NULL;
    k := s_account[i];
    IF places[k] IS NULL THEN
      begun[i] := refusals[k];
      CONTINUE;
    END IF;
    room := new_posted[k] - new_held[k];
    bound := 'balance';
    IF s_capped[i] THEN
      q := array_position(keys, s_keys[i]);
      m := array_position(keys, key_makers[q]);
      IF least(key_rooms[q], key_rooms[m]) <= room THEN
        room := least(key_rooms[q], key_rooms[m]);
        bound := 'key';
      END IF;
    END IF;
    r := s_run[i];
    IF r IS NOT NULL THEN
      IF s_run_limits[i] IS DISTINCT FROM run_limits[r] THEN
        IF run_places[r] IS NULL AND run_calls[r] = 0 THEN
          run_limits[r] := s_run_limits[i];
          run_rooms[r] := coalesce(s_run_limits[i], unlimited);
          rooms_before[r] := run_rooms[r];
        ELSIF s_run_limits[i] IS NOT NULL THEN
          begun[i] := 'run_conflict';
          rooms[i] := run_limits[r];
          CONTINUE;
        END IF;
      END IF;
      IF run_rooms[r] < room OR (run_rooms[r] = room AND bound = 'balance') THEN
        room := run_rooms[r];
        bound := 'run';
      END IF;
    END IF;
    amount := s_amounts[i];
    IF s_floors[i] IS NOT NULL THEN
      amount := least(amount, greatest(s_floors[i], least(room, s_prompts[i] + room / 8)));
    END IF;
    IF amount > room THEN
      rooms[i] := room;
      bounds[i] := bound;
      begun[i] := CASE bound WHEN 'key' THEN 'over_limit' WHEN 'run' THEN 'over_run' ELSE 'insufficient' END;
    ELSE
      begun[i] := 'new';
      amounts[i] := amount;
      new_held[k] := new_held[k] + amount;
      IF s_floors[i] IS NOT NULL THEN
        bounds[i] := CASE WHEN amount = s_amounts[i] THEN 'model' ELSE bound END;
      END IF;
      IF r IS NOT NULL THEN
        run_rooms[r] := run_rooms[r] - amount;
        run_calls[r] := run_calls[r] + 1;
      END IF;
      IF s_capped[i] AND q IS NOT NULL THEN
        key_of[i] := q;
        key_rooms[q] := key_rooms[q] - amount;
        key_taken[q] := key_taken[q] + amount;
        IF m IS NOT NULL THEN
          key_rooms[m] := key_rooms[m] - amount;
        END IF;
      END IF;
    END IF;
  END LOOP;
  IF 'new' = ANY (begun) THEN
    INSERT INTO execution (account_id, id, process_id, api_key_id, held, model, endpoint, client_request_id, spend_period,
                           maker_counted_at, output_cap_reason, run, price_book)
      SELECT p_accounts[s_account[i]], t.id, p_process, s_keys[i], amounts[i], s_models[i], s_endpoints[i],
             s_client_requests[i], key_periods[key_of[i]], CASE WHEN key_makers[key_of[i]] IS NOT NULL THEN counted_at END,
             bounds[i], p_runs[s_run[i]], s_price_books[i]
        FROM unnest(s_ids) WITH ORDINALITY t (id, i) WHERE begun[i] = 'new';
    begun := array_replace(begun, 'new', 'held');
    IF cardinality(keys) > 0 THEN
      UPDATE key_spend s SET spent = s.spent + t.taken
        FROM unnest(key_accounts, keys, key_periods, key_taken) t (account, key, period, taken)
       WHERE t.taken > 0 AND s.account_id = t.account AND s.api_key_id = t.key AND s.period_start = t.period;
      PERFORM maker_note_spend(t.account, t.key, counted_at, t.taken)
        FROM unnest(key_accounts, keys, key_makers, key_taken) t (account, key, maker, taken)
       WHERE t.taken > 0 AND t.maker IS NOT NULL;
    END IF;
  END IF;

  IF cardinality(p_runs) > 0 THEN
    UPDATE run u SET held = u.held + rooms_before[i] - run_rooms[i] - run_spent[i], spent = u.spent + run_spent[i],
                     calls = u.calls + run_calls[i], last_used_at = CASE WHEN run_calls[i] > 0 THEN now() ELSE u.last_used_at END
      FROM unnest(run_places) WITH ORDINALITY t (place, i)
     WHERE u.ctid = t.place AND (u.account_id = p_accounts[p_run_accounts[i]] AND u.id = p_runs[i]) IS TRUE
       AND (run_calls[i] > 0 OR run_spent[i] <> 0 OR run_rooms[i] <> rooms_before[i]);
    IF array_position(run_places, NULL) IS NOT NULL THEN
      INSERT INTO run (account_id, id, spend_limit, held, calls)
        SELECT p_accounts[p_run_accounts[i]], t.id, run_limits[i], rooms_before[i] - run_rooms[i], run_calls[i]
          FROM unnest(p_runs) WITH ORDINALITY t (id, i) WHERE run_places[i] IS NULL AND run_calls[i] > 0;
    END IF;
    FOR i IN 1 .. cardinality(p_runs) LOOP
      -- Calls that begin only take from what is left, so what they left last is the least.
      IF run_calls[i] > 0 AND run_rooms[i] <= run_limits[i] - run_limits[i] / 5 * 4 THEN
        PERFORM run_tell_limit(p_accounts[p_run_accounts[i]], p_runs[i]);
      END IF;
    END LOOP;
  END IF;

  IF new_posted IS DISTINCT FROM old_posted THEN
    -- The id of a charge is that of its call, so that it is found without an index of its own.
    INSERT INTO ledger_entry (account_id, id, hold_id, kind, amount, balance_after)
      SELECT p_accounts[e_account[i]], t.id, t.id, 'charge', -e_charges[i], balances[i]
        FROM unnest(e_ids) WITH ORDINALITY t (id, i) WHERE balances[i] IS NOT NULL;
  END IF;
  UPDATE account a SET posted = t.new_posted, held = t.new_held
    FROM unnest(p_accounts, places, old_posted, old_held, new_posted, new_held)
         t (id, place, old_posted, old_held, new_posted, new_held)
   WHERE a.ctid = t.place AND (a.id = t.id) IS TRUE AND (t.new_posted, t.new_held) IS DISTINCT FROM (t.old_posted, t.old_held);
  IF 'insufficient' = ANY (begun) THEN
    PERFORM account_tell_depleted(a.id)
      FROM (SELECT DISTINCT p_accounts[t.account] AS id FROM unnest(s_account, begun) t (account, outcome)
             WHERE t.outcome = 'insufficient') a;
  END IF;
END $$;

-- Makes sure that a call whose caller received an error holds nothing and costs nothing: its hold is released, or what is left
-- of its charge is given back; if the call never arrived, its id is taken, so that it cannot arrive later. The charge of a
-- call whose record was dropped is given back too. May be repeated. Returns what it did: released, reversed, cancelled;
-- nothing if there was nothing to do; missing if there is no such account, or it has moved to another cell.
CREATE OR REPLACE FUNCTION execution_cancel_record(
  p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text,
  p_provider_request_id text
) RETURNS text LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  balance bigint;
  rest bigint;
  known execution;
  outcome text;
BEGIN
  SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
  IF NOT FOUND OR account_has_left(p_account) THEN
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
  rest := known.charged - coalesce(known.refunded, 0);
  IF known.run IS NOT NULL THEN
    PERFORM run_count(p_account, known.run, known.created_at, CASE known.status WHEN 'running' THEN -known.held ELSE 0 END,
                      -coalesce(rest, 0));
  END IF;
  IF known.status = 'running' THEN
    UPDATE account SET held = held - known.held WHERE id = p_account;
    RETURN 'released';
  END IF;
  IF rest > 0 THEN
    INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
      VALUES (p_account, p_id, 'correction', rest, balance + rest, 'reversal');
    UPDATE account SET posted = posted + rest WHERE id = p_account;
  END IF;
  RETURN 'reversed';
END $$;

-- Calls execution_cancel_record, and takes the charge of a dropped record that it gave back from the usage and the limit of
-- its key.
CREATE OR REPLACE FUNCTION execution_cancel(
  p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text,
  p_provider_request_id text
) RETURNS text LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  outcome text := execution_cancel_record(
    p_account, p_id, p_api_key, p_model, p_endpoint, p_error_code, p_provider, p_provider_request_id);
BEGIN
  IF outcome = 'reversed' THEN
    PERFORM record_note_late_reversal(p_account, p_id, p_api_key, p_model, p_endpoint);
  END IF;
  RETURN outcome;
END $$;

-- Gives back a part of the charge of a call, or what is left of it (p_amount null), as charge_refund_v2; also missing (no such
-- call of the account). A call that has failed since then is uncharged.
CREATE OR REPLACE FUNCTION execution_refund_v3(
  p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, p_reason text, OUT outcome text,
  OUT entry bigint, OUT rest bigint
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  answer record;
  given bigint;
  known record;
BEGIN
  PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
  PERFORM FROM execution WHERE account_id = p_account AND id = p_id;
  IF NOT FOUND THEN
    outcome := 'missing';
    RETURN;
  END IF;
  SELECT * INTO answer FROM charge_refund_v2(p_account, p_id, p_amount, p_key, p_note, p_reason);
  IF answer.is_new THEN
    given := (SELECT amount FROM ledger_entry WHERE account_id = p_account AND position = answer.entry);
    UPDATE execution SET refunded = charged - answer.rest + given
     WHERE account_id = p_account AND id = p_id RETURNING run, created_at INTO known;
    IF known.run IS NOT NULL THEN
      PERFORM run_count(p_account, known.run, known.created_at, 0, -given);
    END IF;
  END IF;
  SELECT answer.outcome, answer.entry, answer.rest INTO outcome, entry, rest;
  IF outcome = 'spent' AND EXISTS (
    SELECT FROM execution WHERE account_id = p_account AND id = p_id AND status = 'failed'
  ) THEN
    outcome := 'uncharged';
  END IF;
END $$;

-- As processes of version 0.1.0 call it.
CREATE OR REPLACE FUNCTION execution_refund_v2(
  p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, OUT outcome text, OUT entry bigint, OUT rest bigint
) LANGUAGE sql AS $$
  SELECT * FROM execution_refund_v3(p_account, p_id, p_amount, p_key, p_note, NULL);
$$;

-- What a call or task is due by the lines of its record, in micro-USD, exact and not yet rounded: each kind of tokens at its
-- price per million, or the quantity at its unit price. Parts of the prompt that have no price of their own cost as its rest, and
-- what was written to the cache for an hour as what was written for 5 minutes. A product of numeric is exact, a quotient is not.
CREATE OR REPLACE FUNCTION charge_due(p_unit text, p_quantity jsonb, p_unit_price jsonb) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_unit <> 'token' THEN (p_quantity #>> '{}')::numeric * (p_unit_price #>> '{}')::numeric
    ELSE (SELECT ((prompt - cached - written - written_1h - images) * input
                  + cached * coalesce((p_unit_price->>'cachedInputPerMillion')::numeric, input)
                  + written * coalesce((p_unit_price->>'cacheWritePerMillion')::numeric, input)
                  + written_1h * coalesce((p_unit_price->>'cacheWrite1hPerMillion')::numeric,
                                          (p_unit_price->>'cacheWritePerMillion')::numeric, input)
                  + images * coalesce((p_unit_price->>'imageInputPerMillion')::numeric, input)
                  + completion * (p_unit_price->>'outputPerMillion')::numeric) * 0.000001
            FROM (SELECT (p_quantity->>'promptTokens')::numeric AS prompt,
                         coalesce((p_quantity->>'cachedTokens')::numeric, 0) AS cached,
                         coalesce((p_quantity->>'cacheWriteTokens')::numeric, 0) AS written,
                         coalesce((p_quantity->>'cacheWrite1hTokens')::numeric, 0) AS written_1h,
                         coalesce((p_quantity->>'imageTokens')::numeric, 0) AS images,
                         (p_quantity->>'completionTokens')::numeric AS completion,
                         (p_unit_price->>'inputPerMillion')::numeric AS input) t) END;
$$;

-- What a call or task costs at its provider is written once.
CREATE OR REPLACE FUNCTION cost_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.cost IS DISTINCT FROM OLD.cost THEN
    RAISE EXCEPTION 'the cost of % is final', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
