-- Leases of processes, and the release of what dead processes held.

-- Renews the lease of a process; its length is the process's own. If a beat comes more than half a lease after the last one,
-- the process counts as unbroken only from that beat on: after an outage the first process must not release the calls of
-- processes that have not reconnected yet. `p_oldest_age_ms` is the age of the oldest call that the process may still run. A
-- minute is added for the time that this statement takes.
CREATE OR REPLACE FUNCTION process_beat_v2(
  p_id uuid, p_lease_ms integer, p_open_calls integer, p_oldest_age_ms bigint, p_version text
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO gateway_process AS known (id, lease_ms, lease_until, unbroken_since, open_calls, oldest_open_at, version)
    VALUES (p_id, p_lease_ms, now() + p_lease_ms * interval '1 millisecond', now(), p_open_calls,
            now() - p_oldest_age_ms * interval '1 millisecond' - interval '1 minute', p_version)
  ON CONFLICT (id) DO UPDATE
    SET lease_ms = p_lease_ms, lease_until = excluded.lease_until, open_calls = p_open_calls,
        oldest_open_at = excluded.oldest_open_at,
        unbroken_since = CASE WHEN known.lease_until - now() < known.lease_ms * interval '0.5 milliseconds'
                              THEN now() ELSE known.unbroken_since END;
$$;

-- As processes of version 0.1.0 call it.
CREATE OR REPLACE FUNCTION process_beat(p_id uuid, p_lease_ms integer, p_open_calls integer, p_oldest_age_ms bigint)
RETURNS void LANGUAGE sql AS $$
  SELECT process_beat_v2(p_id, p_lease_ms, p_open_calls, p_oldest_age_ms, NULL);
$$;

-- Releases those of the calls of an account that still run, as the calls of a lost process. Returns their number; null where
-- another transaction has locked the account; -1 where its counters do not fit: then it is left as it is.
CREATE OR REPLACE FUNCTION execution_release(p_account uuid, p_ids uuid[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  releases int;
  freed bigint;
  runs text[];
  run_held bigint[];
  run_created timestamptz[];
BEGIN
  PERFORM 1 FROM account WHERE id = p_account FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  WITH released AS (
    UPDATE execution SET status = 'failed', error_code = 'process_lost', completed_at = now()
     WHERE account_id = p_account AND id = ANY (p_ids) AND status = 'running'
    RETURNING held, run, created_at)
  SELECT count(*), coalesce(sum(held), 0), array_agg(run) FILTER (WHERE run IS NOT NULL),
         array_agg(held) FILTER (WHERE run IS NOT NULL), array_agg(created_at) FILTER (WHERE run IS NOT NULL)
    INTO releases, freed, runs, run_held, run_created FROM released;
  UPDATE account SET held = held - freed WHERE id = p_account AND freed > 0;
  PERFORM run_count(p_account, t.run, t.created, -t.held, 0) FROM unnest(runs, run_held, run_created) t (run, held, created);
  DELETE FROM open_call WHERE account_id = p_account AND id = ANY (p_ids);
  RETURN releases;
EXCEPTION WHEN check_violation THEN
  RETURN -1;
END $$;

-- Releases calls of a process that says that it does not know them. Returns how many were released, and the accounts whose
-- counters do not fit.
CREATE OR REPLACE FUNCTION execution_release_own(p_process uuid, p_ids uuid[], OUT released integer, OUT damaged uuid[])
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  lost record;
  releases int;
BEGIN
  released := 0;
  damaged := '{}';
  FOR lost IN
    SELECT account_id, array_agg(id) AS ids FROM open_call
     WHERE process_id = p_process AND id = ANY (p_ids)
     GROUP BY account_id ORDER BY account_id
  LOOP
    releases := execution_release(lost.account_id, lost.ids);
    IF releases < 0 THEN
      damaged := damaged || lost.account_id;
    ELSE
      released := released + coalesce(releases, 0);
    END IF;
  END LOOP;
END $$;

-- Looks at the calls that began since the last look, releases at most `p_limit` calls of processes whose lease is over, and
-- forgets the processes of which nothing can be open. One at a time: `swept` is null where another sweep is under way. Only a
-- process whose own lease has been unbroken for the longer of the two leases may judge another; that of a call without any
-- process must be older than every deadline. Accounts that others have locked are left for the next time; those with counters
-- that do not fit are named in `damaged`, and skipped where the caller passes them as spared.
--
-- A call is seen once its transaction has ended, which may be later than its time says. So the mark stays where all that began
-- before it is known to have ended, and what is newer is looked at anew each time. The 20 seconds are for a statement that
-- waits before it writes, and for the clock of a server that takes over. `is_behind` where a look of ten minutes did not reach
-- so far: ask again.
CREATE OR REPLACE FUNCTION execution_sweep_open(
  p_judge uuid, p_spared uuid[], p_limit integer, OUT swept integer, OUT damaged uuid[], OUT is_behind boolean
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET jit = off AS $$
DECLARE
  state call_look;
  is_renewed boolean;
  mark timestamptz;
  upto timestamptz;
  fresh_accounts uuid[];
  fresh_ids uuid[];
  fresh_processes uuid[];
  oldest timestamptz;
  orphans record;
  releases int;
BEGIN
  damaged := '{}';
  is_behind := false;
  SELECT * INTO state FROM call_look FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  swept := 0;
  mark := state.looked_until;
  upto := mark;
  -- A copy of the tables in a new cluster counts its transactions from the beginning.
  is_renewed := state.candidate_xid IS NULL OR state.candidate_xid > pg_snapshot_xmax(pg_current_snapshot());
  IF NOT is_renewed AND pg_snapshot_xmin(pg_current_snapshot()) >= state.candidate_xid THEN
    upto := greatest(mark, state.candidate_at - interval '20 seconds');
    is_renewed := true;
  END IF;
  -- The clock of a server that took over may be behind: calls may have begun before the mark since.
  IF now() - interval '20 seconds' < mark THEN
    upto := now() - interval '20 seconds';
    mark := upto - interval '10 minutes';
  END IF;
  IF upto > mark + interval '10 minutes' THEN
    upto := mark + interval '10 minutes';
    is_behind := true;
    is_renewed := false;
  END IF;

  DELETE FROM open_call o WHERE NOT EXISTS (
    SELECT FROM execution e WHERE e.account_id = o.account_id AND e.id = o.id AND e.status = 'running');
  INSERT INTO open_call (account_id, id, process_id, created_at)
    SELECT account_id, id, process_id, created_at FROM execution
     WHERE created_at >= mark AND created_at <= upto AND status = 'running'
    ON CONFLICT DO NOTHING;
  IF NOT is_behind THEN
    SELECT array_agg(account_id), array_agg(id), array_agg(process_id), min(created_at)
      INTO fresh_accounts, fresh_ids, fresh_processes, oldest
      FROM execution WHERE created_at > upto AND status = 'running';
  END IF;

  FOR orphans IN
    SELECT lost.account_id, array_agg(lost.id) AS ids
      FROM (
        SELECT known.account_id, known.id
          FROM (SELECT account_id, id, process_id, created_at FROM open_call
                UNION ALL
                SELECT f.account_id, f.id, f.process_id, now()
                  FROM unnest(fresh_accounts, fresh_ids, fresh_processes) f (account_id, id, process_id)) known
          JOIN gateway_process judge ON judge.id = p_judge AND judge.lease_until > now()
          LEFT JOIN gateway_process dead ON dead.id = known.process_id
         WHERE CASE WHEN dead.id IS NULL THEN known.created_at < now() - interval '1 day' ELSE dead.lease_until < now() END
           AND judge.unbroken_since
               <= now() - greatest(dead.lease_ms, judge.lease_ms) * interval '1 millisecond'
           AND known.account_id <> ALL (p_spared)
         LIMIT p_limit) lost
     GROUP BY lost.account_id ORDER BY lost.account_id
  LOOP
    releases := execution_release(orphans.account_id, orphans.ids);
    IF releases < 0 THEN
      damaged := damaged || orphans.account_id;
    ELSE
      swept := swept + coalesce(releases, 0);
    END IF;
  END LOOP;

  DELETE FROM gateway_process gone
   WHERE lease_until < upto - interval '1 minute'
     AND NOT EXISTS (SELECT FROM open_call WHERE process_id = gone.id);
  UPDATE call_look
     SET looked_until = upto,
         candidate_at = CASE WHEN is_renewed THEN now() ELSE candidate_at END,
         candidate_xid = CASE WHEN is_renewed THEN pg_snapshot_xmax(pg_current_snapshot()) ELSE candidate_xid END,
         open_calls = (SELECT count(*) FROM open_call) + coalesce(cardinality(fresh_ids), 0),
         oldest_open_at = least((SELECT min(created_at) FROM open_call), oldest);
END $$;
