-- The functions that drop old records, and that give charges of dropped records back. They run as their owner, because the
-- role of the gateway may not delete calls and holds.

-- Calls and tasks that began before these times are in the sums of usage and were read by an audit without a finding; null if
-- the last audit found something.
CREATE OR REPLACE FUNCTION record_proven(OUT calls timestamptz, OUT tasks timestamptz) LANGUAGE sql STABLE AS $$
  SELECT least(a.executions_from, u.folded_until), least(a.holds_from, u.folded_until)
    FROM audit_state a, usage_state u WHERE a.ok;
$$;

-- The same for the entries of one call or task.
CREATE OR REPLACE FUNCTION record_is_proven(p_account uuid, p_id uuid, p_before timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (SELECT FROM usage_pending WHERE account_id = p_account AND id = p_id)
     AND coalesce(bool_and(e.created_at < p_before
           AND e.position <= coalesce((SELECT position FROM audit_checkpoint WHERE account_id = p_account), 0)), true)
    FROM (SELECT created_at, position FROM ledger_entry
           WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge'
          UNION ALL
          SELECT created_at, position FROM ledger_entry
           WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL) e;
$$;

-- Adds dropped records to the sums of their accounts. Only its owner may call it.
CREATE OR REPLACE FUNCTION record_note_dropped(p_accounts uuid[], p_ids uuid[]) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  INSERT INTO dropped_record AS d (account_id, until_id, records, charged)
    SELECT gone.account, (array_agg(gone.id ORDER BY gone.id DESC))[1], count(*), sum(charge_rest(gone.account, gone.id))
      FROM unnest(p_accounts, p_ids) gone (account, id)
     GROUP BY gone.account ORDER BY gone.account
    ON CONFLICT (account_id) DO UPDATE
      SET until_id = greatest(d.until_id, excluded.until_id), records = d.records + excluded.records,
          charged = d.charged + excluded.charged;
$$;

REVOKE EXECUTE ON FUNCTION record_note_dropped FROM PUBLIC;

-- Adds the costs of dropped records to the sums of their accounts, which record_note_dropped has made. Only its owner may call it.
CREATE OR REPLACE FUNCTION record_note_dropped_costs(p_accounts uuid[], p_costs bigint[]) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  UPDATE dropped_record d SET cost = d.cost + gone.cost
    FROM (SELECT account, sum(cost) AS cost FROM unnest(p_accounts, p_costs) g (account, cost) WHERE cost > 0 GROUP BY 1) gone
   WHERE d.account_id = gone.account;
$$;

REVOKE EXECUTE ON FUNCTION record_note_dropped_costs FROM PUBLIC;

-- Looks at the next p_limit calls that began more than p_days ago, oldest first, and drops those that ended as long ago and
-- are proven. seen < p_limit: the pass is over, and the next one begins with the oldest again. One process at a time; records
-- are kept for 30 days at least.
CREATE OR REPLACE FUNCTION record_drop_calls(p_days integer, p_limit integer, OUT seen integer, OUT dropped integer)
LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  place record_retention;
  cutoff timestamptz := now() - make_interval(days => p_days);
  proven timestamptz := (SELECT calls FROM record_proven());
  accounts uuid[];
  ids uuid[];
  runs text[];
  began timestamptz[];
  costs bigint[];
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
  SELECT array_agg(DISTINCT old.account_id), array_agg(old.id ORDER BY old.id) INTO accounts, ids
    FROM (SELECT account_id, id FROM execution
           WHERE id > place.calls_after AND id < first_id_since(cutoff) ORDER BY id LIMIT p_limit) old;
  seen := coalesce(cardinality(ids), 0);
  UPDATE record_retention SET calls_after = CASE WHEN seen < p_limit THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE ids[seen] END;
  -- Whoever refunds or cancels a call has its account: from here on nobody does.
  PERFORM FROM account WHERE id = ANY (accounts) ORDER BY id FOR NO KEY UPDATE;
  WITH gone AS (
    DELETE FROM execution e
     WHERE e.id = ANY (ids) AND e.status <> 'running' AND e.completed_at < cutoff AND e.created_at < proven
       AND record_is_proven(e.account_id, e.id, proven)
    RETURNING e.account_id, e.id, e.run, e.created_at, e.cost)
  SELECT array_agg(gone.account_id), array_agg(gone.id), array_agg(gone.run), array_agg(gone.created_at), array_agg(gone.cost)
    INTO accounts, ids, runs, began, costs FROM gone;
  dropped := coalesce(cardinality(ids), 0);
  IF dropped > 0 THEN
    PERFORM record_note_dropped(accounts, ids);
    PERFORM record_note_dropped_costs(accounts, costs);
    PERFORM run_note_dropped(accounts, runs, began, ids);
  END IF;
END $$;

-- The same for tasks, with their holds, deliveries and idempotency keys. A task with work or a delivery to come stays.
CREATE OR REPLACE FUNCTION record_drop_tasks(p_days integer, p_limit integer, OUT seen integer, OUT dropped integer)
LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  place record_retention;
  cutoff timestamptz := now() - make_interval(days => p_days);
  proven timestamptz := (SELECT tasks FROM record_proven());
  accounts uuid[];
  ids uuid[];
  runs text[];
  began timestamptz[];
  costs bigint[];
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
  UPDATE record_retention SET tasks_after = CASE WHEN seen < p_limit THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE ids[seen] END;
  SELECT array_agg(DISTINCT ended.account_id), array_agg(ended.id) INTO accounts, ids
    FROM (SELECT t.account_id, t.id FROM task t
           WHERE t.id = ANY (ids) AND t.status IN ('succeeded', 'failed', 'expired') AND t.completed_at < cutoff
             AND t.created_at < proven
             FOR UPDATE SKIP LOCKED) ended;
  PERFORM FROM account WHERE id = ANY (accounts) ORDER BY id FOR NO KEY UPDATE;
  SELECT array_agg(t.account_id), array_agg(t.id), array_agg(t.run), array_agg(t.created_at), array_agg(t.cost)
    INTO accounts, ids, runs, began, costs
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
    PERFORM record_note_dropped_costs(accounts, costs);
    PERFORM run_note_dropped(accounts, runs, began, ids);
  END IF;
END $$;

-- Gives back what is left of the charge of a dropped record; the account is locked. Returns reversed, or nothing where that
-- was done before; null for a record that is there, and for one that was charged nothing or never dropped.
CREATE OR REPLACE FUNCTION record_give_back(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  rest bigint;
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
  INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
    SELECT p_account, p_id, 'correction', rest, posted + rest, 'reversal' FROM account WHERE id = p_account;
  UPDATE account SET posted = posted + rest WHERE id = p_account;
  UPDATE dropped_record SET charged = charged - rest WHERE account_id = p_account;
  RETURN 'reversed';
END $$;

-- Notes a charge that was given back, if the record of the call is gone or the record of the task stays as its holder sees it,
-- and frees what was left of the charge in the limits of its key and of the key's successors; the account is locked. The end
-- of a call that is recorded does that by itself.
CREATE OR REPLACE FUNCTION record_note_late_reversal(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  charged timestamptz;
  rest bigint;
BEGIN
  SELECT created_at INTO charged FROM ledger_entry
   WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge';
  SELECT amount INTO rest FROM ledger_entry
   WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL
   ORDER BY position DESC LIMIT 1;
  IF charged IS NULL OR rest IS NULL OR EXISTS (SELECT FROM execution WHERE account_id = p_account AND id = p_id) THEN
    RETURN;
  END IF;
  INSERT INTO late_reversal (account_id, id, api_key_id, model, endpoint, charged_at)
    VALUES (p_account, p_id, p_api_key, p_model, p_endpoint, charged) ON CONFLICT DO NOTHING;
  IF FOUND THEN
    PERFORM key_give_back(p_account, p_api_key, p_id,
      coalesce((SELECT created_at FROM task WHERE account_id = p_account AND id = p_id), charged), charged, rest);
    PERFORM maker_note_spend(p_account, p_api_key,
      coalesce((SELECT maker_counted_at FROM task WHERE account_id = p_account AND id = p_id), charged), -rest);
  END IF;
END $$;
