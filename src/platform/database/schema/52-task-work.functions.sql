-- The steps of workers.

-- Claims due work, the longest due first, and of each lane only as much as fits its room, and returns the row of each claimed
-- task, read by the statement that claims it. A lane is 'step/provider'. p_steps and p_step_rooms give the room of each step; other
-- steps are not claimed, because the asking process does not know them. p_lanes names the lanes that have another room. Work in p_mine is not claimed, because the asking process still does it: its
-- lease ended while the database could not be reached.
--
-- No account takes a place of a lane once it has p_share times as many as are then free. p_held tells who has how many; an
-- account that is not named has none. Places are given in the order of how many the account has then, so that several get as
-- many each.
--
-- If that leaves much of the longest due work aside, the claim also steps by the primary key through at most p_accounts
-- accounts with work, from one of a random age on, and then from the start, and takes due work of each, of which it reads the
-- 1,000 oldest tasks. An index for these steps would make every claim slower, because its entries lie apart, while few claims
-- take them. Without enable_bitmapscan = off, PostgreSQL 15 planned the reading of an account over a small table as a bitmap
-- scan, which reads and sorts all tasks of the account; a session keeps that plan while the table grows.
CREATE OR REPLACE FUNCTION task_claim_sharing(
  p_steps text[], p_step_rooms integer[], p_lanes text[], p_rooms integer[], p_held_lanes text[], p_held_accounts uuid[],
  p_held integer[], p_share integer, p_accounts integer, p_mine uuid[], p_lease_ms integer
) RETURNS TABLE (
  claimed task, phase text, fence bigint, strikes smallint, submits integer, put_offs integer, put_off_ms double precision
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  this_lane text := (SELECT w.lane FROM task_work w ORDER BY w.lane LIMIT 1);
  room integer;
  now_ms double precision := extract(epoch FROM now()) * 1000;
  age_ms double precision;
  starts_at uuid;
BEGIN
  WHILE this_lane IS NOT NULL LOOP
    room := coalesce(
      (SELECT r.room FROM unnest(p_lanes, p_rooms) r (lane, room) WHERE r.lane = this_lane),
      (SELECT r.room FROM unnest(p_steps, p_step_rooms) r (step, room) WHERE r.step = split_part(this_lane, '/', 1)),
      0);
    IF room > 0 THEN
      -- Ids of accounts begin with the time. Half of the starts are as likely at each age that accounts with work have, the
      -- others at each order of magnitude of their age, up to five years.
      age_ms := CASE WHEN random() < 0.5 THEN exp(random() * ln(1.6e11)) ELSE random() * (now_ms - (
        SELECT ('x' || left(replace(w.account_id::text, '-', ''), 12))::bit(48)::bigint FROM task_work w
         ORDER BY w.account_id, w.task_id LIMIT 1)) END;
      starts_at := (lpad(to_hex((now_ms - age_ms)::bigint), 12, '0') || repeat('0', 20))::uuid;
      RETURN QUERY
      WITH RECURSIVE holder AS MATERIALIZED (
        SELECT h.account_id, h.held FROM unnest(p_held_lanes, p_held_accounts, p_held) h (lane, account_id, held)
         WHERE h.lane = this_lane
      ), head AS MATERIALIZED (
        SELECT w.account_id, w.task_id, w.due_at FROM task_work w
         WHERE w.lane = this_lane AND w.due_at <= now() AND w.task_id <> ALL (p_mine)
         ORDER BY w.due_at LIMIT room FOR UPDATE SKIP LOCKED
      ), judged AS MATERIALIZED (
        SELECT r.account_id, r.task_id,
               r.nth <= p_share * (room + 1 - row_number() OVER (ORDER BY r.nth, r.due_at)) AS fits
          FROM (SELECT h.*, coalesce(o.held, 0) + row_number() OVER (PARTITION BY h.account_id ORDER BY h.due_at) AS nth
                  FROM head h LEFT JOIN holder o ON o.account_id = h.account_id) r
      ), rest AS MATERIALIZED (
        SELECT room - count(*) FILTER (WHERE fits) AS room,
               count(*) = room AND count(*) FILTER (WHERE NOT fits) > room / 16 AS is_looked_for
          FROM judged
      ), ahead AS (
        (SELECT w.account_id FROM task_work w
          WHERE w.account_id >= starts_at AND (SELECT is_looked_for FROM rest)
          ORDER BY w.account_id, w.task_id LIMIT 1)
        UNION ALL
        SELECT n.account_id FROM ahead l CROSS JOIN LATERAL (
          SELECT w.account_id FROM task_work w WHERE w.account_id > l.account_id
           ORDER BY w.account_id, w.task_id LIMIT 1) n
      ), behind AS (
        (SELECT w.account_id FROM task_work w
          WHERE w.account_id < starts_at AND (SELECT is_looked_for FROM rest)
          ORDER BY w.account_id, w.task_id LIMIT 1)
        UNION ALL
        SELECT n.account_id FROM behind l CROSS JOIN LATERAL (
          SELECT w.account_id FROM task_work w WHERE w.account_id < starts_at AND w.account_id > l.account_id
           ORDER BY w.account_id, w.task_id LIMIT 1) n
      ), met AS MATERIALIZED (
        SELECT m.account_id FROM (SELECT account_id FROM ahead UNION ALL SELECT account_id FROM behind) m
         LIMIT p_accounts
      ), seen AS MATERIALIZED (
        SELECT d.account_id, d.task_id, d.due_at, d.fence FROM met m CROSS JOIN LATERAL (
          SELECT s.account_id, s.task_id, s.due_at, s.fence FROM (
            SELECT w.account_id, w.task_id, w.lane, w.due_at, w.fence FROM task_work w
             WHERE w.account_id = m.account_id ORDER BY w.account_id, w.task_id LIMIT 1000) s
           WHERE s.lane = this_lane AND s.due_at <= now() AND s.task_id <> ALL (p_mine)
           LIMIT greatest(1, room / (SELECT count(*) FROM met))) d
         WHERE m.account_id NOT IN (SELECT account_id FROM judged)
      ), other AS MATERIALIZED (
        SELECT k.account_id, k.task_id, k.due_at FROM seen s CROSS JOIN LATERAL (
          SELECT w.account_id, w.task_id, w.due_at FROM task_work w
           WHERE w.account_id = s.account_id AND w.task_id = s.task_id AND w.fence = s.fence AND w.due_at = s.due_at
             FOR UPDATE SKIP LOCKED) k
      ), due AS MATERIALIZED (
        SELECT account_id, task_id FROM judged WHERE fits
        UNION ALL
        SELECT r.account_id, r.task_id FROM (
          SELECT n.account_id, n.task_id,
                 n.nth <= p_share * (e.room + 1 - row_number() OVER (ORDER BY n.nth, n.due_at)) AS fits
            FROM (SELECT t.*, coalesce(o.held, 0) + row_number() OVER (PARTITION BY t.account_id ORDER BY t.due_at) AS nth
                    FROM other t LEFT JOIN holder o ON o.account_id = t.account_id) n
           CROSS JOIN rest e) r
         WHERE r.fits
      ), leased AS (
        UPDATE task_work w
           SET fence = w.fence + 1, due_at = now() + p_lease_ms * interval '1 millisecond'
          FROM due d WHERE w.account_id = d.account_id AND w.task_id = d.task_id
        RETURNING w.account_id, w.task_id, w.phase, w.fence, w.strikes, w.submits, w.put_offs,
                  (extract(epoch FROM now() - w.put_off_at) * 1000)::double precision AS put_off_ms
      )
      SELECT t.whole, h.phase, h.fence, h.strikes, h.submits, h.put_offs, h.put_off_ms FROM leased h
       CROSS JOIN LATERAL (
         SELECT k AS whole FROM task k WHERE k.account_id = h.account_id AND k.id = h.task_id OFFSET 0
       ) t;
    END IF;
    this_lane := (SELECT w.lane FROM task_work w WHERE w.lane > this_lane ORDER BY w.lane LIMIT 1);
  END LOOP;
END $$;

-- Stores the reports of workers about tasks that have not ended: the next step of each and its time, and facts of the task if
-- there are any: status, progress, memory, job_id, base_url, found, evidence, unknown_state (an empty one takes the word
-- before away), put_off (how often in a row the step was put off, with this one; version 0.1.0 says true, which adds one). Returns
-- the tasks whose fence was the newest; the others are not changed. Where the phase is null, it stays and only the lease is
-- renewed.
CREATE OR REPLACE FUNCTION task_advance(
  p_accounts uuid[], p_ids uuid[], p_fences bigint[], p_lanes text[], p_phases text[], p_delays_ms bigint[],
  p_strikes smallint[], p_facts json[]
) RETURNS SETOF uuid LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  RETURN QUERY
  WITH moved AS (
    UPDATE task_work w
       SET due_at = now() + a.delay_ms * interval '1 millisecond',
           lane = coalesce(a.lane, w.lane), phase = coalesce(a.phase, w.phase), strikes = coalesce(a.strikes, w.strikes),
           submits = w.submits + CASE WHEN a.phase = 'submitting' AND w.phase <> 'submitting' THEN 1 ELSE 0 END,
           put_offs = CASE WHEN a.facts ->> 'put_off' = 'true' THEN w.put_offs + 1
                           WHEN a.facts ->> 'put_off' IS NOT NULL THEN (a.facts ->> 'put_off')::integer
                           WHEN a.phase = 'submitting' OR a.phase IS NULL THEN w.put_offs ELSE 0 END,
           put_off_at = CASE WHEN a.facts ->> 'put_off' IS NOT NULL THEN coalesce(w.put_off_at, now())
                             WHEN a.phase = 'submitting' OR a.phase IS NULL THEN w.put_off_at END
      FROM unnest(p_accounts, p_ids, p_fences, p_lanes, p_phases, p_delays_ms, p_strikes, p_facts)
           a (account_id, id, fence, lane, phase, delay_ms, strikes, facts)
     WHERE w.account_id = a.account_id AND w.task_id = a.id AND w.fence = a.fence
    RETURNING w.account_id, w.task_id, a.facts
  ), told AS (
    UPDATE task t
       SET status = CASE WHEN t.completed_at IS NULL THEN coalesce(m.facts ->> 'status', t.status) ELSE t.status END,
           progress = greatest(t.progress, (m.facts ->> 'progress')::smallint),
           memory = coalesce(m.facts -> 'memory', t.memory),
           provider_job_id = coalesce(m.facts ->> 'job_id', t.provider_job_id),
           provider_base_url = coalesce(m.facts ->> 'base_url', t.provider_base_url),
           found = coalesce(m.facts -> 'found', t.found),
           evidence_status = coalesce(m.facts ->> 'evidence', t.evidence_status),
           evidence_at = CASE WHEN m.facts ->> 'evidence' IS NULL THEN t.evidence_at ELSE now() END,
           unknown_state = CASE WHEN m.facts ->> 'unknown_state' IS NULL THEN t.unknown_state
                                ELSE nullif(m.facts ->> 'unknown_state', '') END
      FROM moved m
     WHERE m.facts IS NOT NULL AND t.account_id = m.account_id AND t.id = m.task_id
  )
  SELECT m.task_id FROM moved m;
END $$;

-- Names the job of a task that has none, and has it watched if the task waits for an operator: the id of a job that a provider
-- accepted is kept even if it is reported after the lease of the submission. Status and money stay. Where nothing changes, says
-- why: the task has another job (other_job), another task took this one by its time (other_task), or the task has it or its outcome
-- is known (nothing). p_others_ms: how long before and after this task one was created that may have taken it; null: none can have.
-- The lock is that of task_take_found_job, shared: neither begins while the other has looked and not yet named the job.
CREATE OR REPLACE FUNCTION task_keep_job_v2(
  p_account uuid, p_id uuid, p_job_id text, p_watch_lane text, p_watch_ms bigint, p_others_ms bigint
) RETURNS text LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  own record;
  now_is text;
BEGIN
  IF p_others_ms IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock_shared(7446118);
  END IF;
  SELECT provider, provider_job_id, created_at INTO own FROM task WHERE account_id = p_account AND id = p_id;
  IF own.provider_job_id <> p_job_id THEN
    RETURN 'other_job';
  END IF;
  IF p_others_ms IS NOT NULL AND own.provider_job_id IS NULL THEN
    PERFORM FROM task t
      WHERE t.created_at BETWEEN own.created_at - p_others_ms * interval '1 millisecond'
                             AND own.created_at + p_others_ms * interval '1 millisecond'
        AND t.provider_job_id = p_job_id AND t.provider = own.provider AND t.id <> p_id LIMIT 1;
    IF FOUND THEN
      RETURN 'other_task';
    END IF;
  END IF;
  UPDATE task SET provider_job_id = p_job_id
   WHERE account_id = p_account AND id = p_id AND provider_job_id IS NULL
     AND status IN ('queued', 'processing', 'reconciliation_required')
   RETURNING status INTO now_is;
  IF now_is = 'reconciliation_required' THEN
    INSERT INTO task_work (account_id, task_id, lane, phase, due_at)
      VALUES (p_account, p_id, p_watch_lane, 'watching', now() + p_watch_ms * interval '1 millisecond')
      ON CONFLICT DO NOTHING;
  END IF;
  RETURN CASE WHEN now_is IS NULL THEN 'nothing' ELSE 'kept' END;
END $$;

-- Names the job of a task, which a look-up found by its time and fields (decision G-118). True if the task has it now. False if
-- another task has it, if one that is being submitted in the lane may get it, or if another process asks here at this moment: then
-- the job is looked up again later. p_from and p_to are when tasks were created whose job it may be. A task that begins to be
-- submitted meanwhile gets another job, because this one is there already; so those in the lane are looked at first. One look at a
-- time, because a look reads all tasks of that span.
CREATE OR REPLACE FUNCTION task_take_found_job(
  p_account uuid, p_id uuid, p_lane text, p_job_id text, p_from timestamptz, p_to timestamptz
) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(7446118) THEN
    RETURN false;
  END IF;
  -- A submission that is looked up has a strike.
  PERFORM FROM task_work w JOIN task t ON t.account_id = w.account_id AND t.id = w.task_id
    WHERE w.lane = p_lane AND w.phase = 'submitting' AND w.strikes = 0 AND w.task_id <> p_id AND t.created_at <= p_to
    LIMIT 1;
  IF FOUND THEN
    RETURN false;
  END IF;
  PERFORM FROM task t
    WHERE t.created_at BETWEEN p_from AND p_to AND t.provider_job_id = p_job_id AND t.id <> p_id LIMIT 1;
  IF FOUND THEN
    RETURN false;
  END IF;
  UPDATE task SET provider_job_id = p_job_id
   WHERE account_id = p_account AND id = p_id AND coalesce(provider_job_id, p_job_id) = p_job_id
     AND status IN ('queued', 'processing', 'reconciliation_required');
  RETURN FOUND;
END $$;
