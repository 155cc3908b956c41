-- How processes of version 0.1.0 begin and end calls. They may run beside this version, whose own function is execution_step_v3;
-- the next version drops these.

-- Ends calls, then begins calls, so that the calls that begin can use the money that the ends free. `p_accounts` are distinct
-- and in order; each call names its account by position. Accounts are locked in that order. An account that another
-- transaction has locked is left out and its calls return `locked`, unless `p_waits`. Outcomes, in the order of the calls:
-- - ends (e_): done (also when it was done before), conflict (ended in another way), excess (the charge is above what is
--   held), missing;
-- - starts (s_): held (also when it was held before), insufficient, conflict (the id was used for another call), missing (no
--   account).
--
-- Calls are tried in order of arrival, and each that fits begins. Two starts of one id in one call fail all of it. What a key
-- holds counts for its maker too, of which processes of version 0.1.0 know nothing.
--
-- The steps are statements over sets, not several statements per call, so that a call costs the server less than the round
-- trip. A session plans each statement once, perhaps while the tables are empty, and must never come to read them whole: rows
-- are looked up one by one, and accounts are rewritten by the place where they were locked. While a snapshot is open, as a
-- dump holds one, PostgreSQL keeps every version of an account's row; accounts are looked up backwards, so that the newest
-- version is found first and the others are not read.
CREATE OR REPLACE FUNCTION execution_step_v2(
  p_accounts uuid[], p_process uuid, p_waits boolean,
  e_account integer[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[],
  e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[],
  e_first_byte_ms integer[], e_duration_ms integer[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[],
  e_uncharged jsonb[],
  s_account integer[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[],
  s_client_requests text[],
  OUT ended text[], OUT begun text[]
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
  charge_accounts uuid[] := '{}';
  charge_holds uuid[] := '{}';
  charges bigint[] := '{}';
  balances bigint[] := '{}';
  row record;
  k int;
  found_accounts int := 0;
  held_starts int := 0;
  counted_at timestamptz;
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

  ended := array_fill(NULL::text, ARRAY[cardinality(e_ids)]);
  FOR row IN
    UPDATE execution e
       SET status = CASE WHEN t.charge IS NULL THEN 'failed' ELSE 'succeeded' END, completed_at = now(),
           charged = t.charge, error_code = t.error, provider = t.provider, upstream_model = t.upstream_model,
           provider_request_id = t.request, unit = t.unit, quantity = t.quantity, unit_price = t.unit_price,
           estimated = t.estimated, first_byte_ms = t.first_byte_ms, duration_ms = t.duration_ms,
           provider_fault = t.provider_fault, capped = t.capped, provider_figures = t.figures, uncharged = t.uncharged
      FROM unnest(e_account, e_ids, e_charges, e_errors, e_providers, e_upstream_models, e_requests, e_units,
                  e_quantities, e_unit_prices, e_estimated, e_first_byte_ms, e_duration_ms, e_provider_faults,
                  e_capped, e_figures, e_uncharged)
           WITH ORDINALITY t (account, id, charge, error, provider, upstream_model, request, unit, quantity, unit_price,
                              estimated, first_byte_ms, duration_ms, provider_fault, capped, figures, uncharged, position)
     WHERE places[t.account] IS NOT NULL AND e.account_id = p_accounts[t.account] AND e.id = t.id
       AND e.status = 'running' AND coalesce(t.charge, 0) <= e.held
    RETURNING t.position, t.account, e.account_id, e.id, e.held, e.charged
  LOOP
    k := row.account;
    ended[row.position] := 'done';
    new_held[k] := new_held[k] - row.held;
    IF row.charged > 0 THEN
      new_posted[k] := new_posted[k] - row.charged;
      charge_accounts := charge_accounts || row.account_id;
      charge_holds := charge_holds || row.id;
      charges := charges || -row.charged;
      balances := balances || new_posted[k];
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
  FOR row IN
    SELECT t.position, CASE WHEN x.status = 'running' AND x.held = t.amount THEN 'held' ELSE 'conflict' END AS outcome
      FROM unnest(s_account, s_ids, s_amounts) WITH ORDINALITY t (account, id, amount, position)
      JOIN execution x ON x.account_id = p_accounts[t.account] AND x.id = t.id
     WHERE places[t.account] IS NOT NULL
  LOOP
    begun[row.position] := row.outcome;
  END LOOP;
  FOR i IN 1 .. cardinality(s_ids) LOOP
    k := s_account[i];
    IF places[k] IS NULL THEN
      begun[i] := refusals[k];
    ELSIF begun[i] IS NULL AND s_amounts[i] <= new_posted[k] - new_held[k] THEN
      begun[i] := 'new';
      new_held[k] := new_held[k] + s_amounts[i];
      held_starts := held_starts + 1;
    ELSIF begun[i] IS NULL THEN
      begun[i] := 'insufficient';
    END IF;
  END LOOP;
  IF held_starts > 0 THEN
    counted_at := clock_timestamp();
    INSERT INTO execution (account_id, id, process_id, api_key_id, held, model, endpoint, client_request_id, maker_counted_at)
      SELECT p_accounts[t.account], t.id, p_process, t.key, t.amount, t.model, t.endpoint, t.client_request,
             (SELECT counted_at FROM api_key k WHERE k.id = t.key AND k.maker_id IS NOT NULL)
        FROM unnest(s_account, s_ids, s_amounts, s_keys, s_models, s_endpoints, s_client_requests, begun)
             t (account, id, amount, key, model, endpoint, client_request, outcome)
       WHERE t.outcome = 'new';
    PERFORM maker_note_spend(made.account, made.key, counted_at, made.taken)
      FROM (SELECT p_accounts[t.account] AS account, t.key, sum(t.amount)::bigint AS taken
              FROM unnest(s_account, s_amounts, s_keys, begun) t (account, amount, key, outcome)
             WHERE t.outcome = 'new' GROUP BY 1, 2) made;
    begun := array_replace(begun, 'new', 'held');
  END IF;

  IF cardinality(charges) > 0 THEN
    INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after)
      SELECT t.account, t.hold, 'charge', t.amount, t.balance
        FROM unnest(charge_accounts, charge_holds, charges, balances) t (account, hold, amount, balance);
  END IF;
  UPDATE account a SET posted = t.new_posted, held = t.new_held
    FROM unnest(p_accounts, places, old_posted, old_held, new_posted, new_held)
         t (id, place, old_posted, old_held, new_posted, new_held)
   WHERE a.ctid = t.place AND (a.id = t.id) IS TRUE AND (t.new_posted, t.new_held) IS DISTINCT FROM (t.old_posted, t.old_held);
END $$;

-- execution_step_v2 for a batch with starts of keys that may have a limit or a maker (`s_capped`); such a start may also be answered
-- over_limit. What a key holds counts for its maker too, in the same statement. Ends come first, so that what they free counts; starts are judged in order of arrival. The loops run over
-- arrays: within them only execution_step_v2 is asked, once more for each time that a balance refused what a limit allowed.
CREATE OR REPLACE FUNCTION execution_step_capped_v2(
  p_accounts uuid[], p_process uuid, p_waits boolean,
  e_account integer[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[],
  e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[],
  e_first_byte_ms integer[], e_duration_ms integer[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[],
  e_uncharged jsonb[],
  s_account integer[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[],
  s_client_requests text[], s_capped boolean[],
  OUT ended text[], OUT begun text[]
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  n int := cardinality(s_ids);
  locked uuid[];
  new_keys uuid[];
  keys uuid[];
  rooms bigint[];
  periods timestamptz[];
  left_over bigint[];
  key_of int[];
  maker_of int[];
  maker_keys uuid[];
  asked int[];
  outcomes text[];
  k int;
  m int;
  is_freed boolean;
BEGIN
  -- Backwards, as in execution_step_v2: the newest version of a row is found first.
  IF p_waits THEN
    PERFORM FROM unnest(p_accounts) p (id), LATERAL (
      SELECT FROM account a WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE) x;
  END IF;
  locked := ARRAY(
    SELECT x.id FROM unnest(p_accounts) p (id), LATERAL (
      SELECT a.id FROM account a
       WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) x);

  SELECT s.ended INTO ended FROM execution_step_v2(
    p_accounts, p_process, p_waits, e_account, e_ids, e_charges, e_errors, e_providers, e_upstream_models, e_requests,
    e_units, e_quantities, e_unit_prices, e_estimated, e_first_byte_ms, e_duration_ms, e_provider_faults,
    e_capped, e_figures, e_uncharged, '{}', '{}', '{}', '{}', '{}', '{}', '{}') s;

  -- A start that is recorded already, or whose account does not exist, is answered by execution_step_v2.
  SELECT array_agg(CASE WHEN t.capped AND NOT l.is_ours AND EXISTS (SELECT FROM account a WHERE a.id = p_accounts[t.account])
                        THEN 'locked' END ORDER BY t.position),
         array_agg(CASE WHEN t.capped AND l.is_ours AND NOT EXISTS (
                          SELECT FROM execution x WHERE x.account_id = p_accounts[t.account] AND x.id = t.id)
                        THEN t.key END ORDER BY t.position)
    INTO begun, new_keys
    FROM unnest(s_account, s_ids, s_keys, s_capped) WITH ORDINALITY t (account, id, key, capped, position),
         LATERAL (SELECT p_accounts[t.account] = ANY (locked) AS is_ours) l;
  maker_keys := ARRAY(
    SELECT k.maker_id FROM unnest(new_keys) WITH ORDINALITY t (key, position) LEFT JOIN api_key k ON k.id = t.key
     ORDER BY t.position);
  SELECT array_agg(u.key), array_agg(r.room), array_agg(r.counts_in) INTO keys, rooms, periods
    FROM (SELECT t.account, t.key FROM unnest(s_account || s_account, new_keys || maker_keys) t (account, key)
           WHERE t.key IS NOT NULL GROUP BY 1, 2) u,
         LATERAL key_room(p_accounts[u.account], u.key) r;
  key_of := ARRAY(
    SELECT array_position(keys, t.key) FROM unnest(new_keys) WITH ORDINALITY t (key, position) ORDER BY t.position);
  maker_of := ARRAY(
    SELECT array_position(keys, t.key) FROM unnest(maker_keys) WITH ORDINALITY t (key, position) ORDER BY t.position);

  -- A start that the balance refuses leaves its share of the limit to the next: those are asked again.
  LOOP
    asked := '{}';
    left_over := rooms;
    FOR i IN 1 .. n LOOP
      k := key_of[i];
      m := maker_of[i];
      CONTINUE WHEN begun[i] IS NOT NULL AND begun[i] <> 'over_limit';
      IF s_amounts[i] > least(left_over[k], left_over[m]) THEN
        begun[i] := 'over_limit';
        CONTINUE;
      END IF;
      asked := asked || i;
      IF k IS NOT NULL THEN
        left_over[k] := left_over[k] - s_amounts[i];
      END IF;
      IF m IS NOT NULL THEN
        left_over[m] := left_over[m] - s_amounts[i];
      END IF;
    END LOOP;
    EXIT WHEN cardinality(asked) = 0;

    SELECT s.begun INTO outcomes
      FROM (SELECT array_agg(s_account[a.i] ORDER BY a.ord) AS account, array_agg(s_ids[a.i] ORDER BY a.ord) AS ids,
                   array_agg(s_amounts[a.i] ORDER BY a.ord) AS amounts, array_agg(s_keys[a.i] ORDER BY a.ord) AS keys,
                   array_agg(s_models[a.i] ORDER BY a.ord) AS models,
                   array_agg(s_endpoints[a.i] ORDER BY a.ord) AS endpoints,
                   array_agg(s_client_requests[a.i] ORDER BY a.ord) AS client_requests
              FROM unnest(asked) WITH ORDINALITY a (i, ord)) p,
           LATERAL execution_step_v2(
             p_accounts, p_process, p_waits, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
             '{}', '{}', '{}', '{}', '{}', p.account, p.ids, p.amounts, p.keys, p.models, p.endpoints, p.client_requests) s;
    is_freed := false;
    FOR j IN 1 .. cardinality(asked) LOOP
      begun[asked[j]] := outcomes[j];
      k := key_of[asked[j]];
      m := maker_of[asked[j]];
      IF k IS NOT NULL AND outcomes[j] = 'held' THEN
        rooms[k] := rooms[k] - s_amounts[asked[j]];
        IF m IS NOT NULL THEN
          rooms[m] := rooms[m] - s_amounts[asked[j]];
        END IF;
      ELSIF k IS NOT NULL THEN
        is_freed := true;
      END IF;
    END LOOP;
    EXIT WHEN NOT is_freed;
  END LOOP;
  UPDATE execution e SET spend_period = periods[t.k]
    FROM unnest(s_account, s_ids, key_of, begun) t (account, id, k, outcome)
   WHERE t.outcome = 'held' AND periods[t.k] IS NOT NULL AND e.account_id = p_accounts[t.account] AND e.id = t.id;
END $$;
