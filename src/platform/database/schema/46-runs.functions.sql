-- How long before its run a call may have begun by its time: the clocks of two servers differ. A run of the same name that was
-- dropped had no call for 30 days.
CREATE OR REPLACE FUNCTION run_began_before(p_run timestamptz, p_call timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_call - p_run >= interval '-1 day';
$$;

-- Changes the counters of the run of a call or task that began at p_created; the account is locked.
CREATE OR REPLACE FUNCTION run_count(p_account uuid, p_run text, p_created timestamptz, p_held bigint, p_spent bigint)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  UPDATE run SET held = held + p_held, spent = spent + p_spent
   WHERE account_id = p_account AND id = p_run AND run_began_before(created_at, p_created);
END $$;

-- Counts the change of a task that counts in a run. What it reserves is held until its outcome is known.
CREATE OR REPLACE FUNCTION task_note_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was_open boolean := OLD.status NOT IN ('succeeded', 'failed', 'expired');
  is_open boolean := NEW.status NOT IN ('succeeded', 'failed', 'expired');
  freed bigint := CASE WHEN was_open THEN OLD.reserved ELSE 0 END - CASE WHEN is_open THEN NEW.reserved ELSE 0 END;
  charged bigint := coalesce(NEW.charged, 0) - coalesce(NEW.refunded, 0) - coalesce(OLD.charged, 0) + coalesce(OLD.refunded, 0);
BEGIN
  IF freed <> 0 OR charged <> 0 THEN
    PERFORM FROM account WHERE id = NEW.account_id FOR NO KEY UPDATE;
    PERFORM run_count(NEW.account_id, NEW.run, NEW.created_at, -freed, charged);
  END IF;
  RETURN NULL;
END $$;

-- Adds dropped records to the counters of their runs; the accounts are locked.
CREATE OR REPLACE FUNCTION run_note_dropped(p_accounts uuid[], p_runs text[], p_created timestamptz[], p_ids uuid[])
RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  UPDATE run u SET dropped_calls = u.dropped_calls + g.calls, dropped_spent = u.dropped_spent + g.spent
    FROM (SELECT t.account, t.run, count(*) AS calls, sum(charge_rest(t.account, t.id)) AS spent
            FROM unnest(p_accounts, p_runs, p_created, p_ids) t (account, run, created, id)
            JOIN run r ON r.account_id = t.account AND r.id = t.run AND run_began_before(r.created_at, t.created)
           GROUP BY 1, 2) g
   WHERE u.account_id = g.account AND u.id = g.run;
END $$;

-- Drops at most p_limit runs that hold nothing and had no call for 30 days, and what was told of their limits. Returns how many.
-- Whoever begins or ends a call has its account, so they are looked at again once the accounts are locked.
CREATE OR REPLACE FUNCTION run_drop(p_limit integer) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  cutoff timestamptz := now() - interval '30 days';
  accounts uuid[];
  ids text[];
  dropped integer;
BEGIN
  SELECT array_agg(old.account_id), array_agg(old.id) INTO accounts, ids
    FROM (SELECT account_id, id FROM run
           WHERE created_at < cutoff AND last_used_at < cutoff AND held = 0 LIMIT p_limit) old;
  IF ids IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM FROM account WHERE id = ANY (accounts) ORDER BY id FOR NO KEY UPDATE;
  WITH gone AS (
    DELETE FROM run r USING unnest(accounts, ids) t (account, id)
     WHERE r.account_id = t.account AND r.id = t.id AND r.last_used_at < cutoff AND r.held = 0
    RETURNING r.account_id, r.id
  ), forgotten AS (
    DELETE FROM limit_notice n USING gone g WHERE n.account_id = g.account_id AND n.owner = 'run ' || g.id
  )
  SELECT count(*) INTO dropped FROM gone;
  RETURN dropped;
END $$;
