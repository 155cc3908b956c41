-- Adds a delivery that is due at once.
CREATE OR REPLACE FUNCTION webhook_enqueue(
  p_account uuid, p_id uuid, p_owner uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_created timestamptz
) RETURNS void LANGUAGE sql AS $$
  INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, sealed_secret, body, due_at, created_at)
    VALUES (p_account, p_id, p_owner, p_url, p_origin, p_sealed_secret, p_body, now(), p_created)
$$;

-- Claims at most p_limit due deliveries, the longest due first, and leases them. Of an origin and of an account it takes no
-- more than their room: p_origins and p_accounts name those whose room is not p_origin_room or p_account_room. The clock of
-- the database decides what is due and when a lease ends, because the clocks of the processes differ.
--
-- It looks at the lanes (the receivers of each account apart) of the longest due deliveries, twice as many deliveries as it
-- may claim, and reads no more rows of a lane than fit its room, so that the queue of a receiver that hangs does not slow the
-- others. If more are due, it also steps by the index through at most p_lanes accounts with room, from p_from on, or from an
-- account of a random age, and then from the start, and through equal shares of p_lanes lanes of each, at least eight.
--
-- A delivery is pending if it has a due_at. Each condition is written so that only the intended index can serve it, and the
-- conditions on a chosen row fit no index. A plan that was made while the table was empty is therefore right for a full one.
CREATE OR REPLACE FUNCTION webhook_claim(
  p_from uuid, p_lanes integer, p_lease_ms integer, p_limit integer, p_origin_room integer, p_origins text[],
  p_origin_rooms integer[], p_account_room integer, p_accounts uuid[], p_account_rooms integer[]
) RETURNS SETOF webhook_delivery LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
  SET enable_incremental_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  judged_at timestamptz := clock_timestamp();
  head_size integer := p_limit * 2;
  -- Ids of accounts begin with the time. Each order of magnitude of their age, up to five years, is as likely.
  starts_at uuid := coalesce(p_from, (lpad(to_hex(
    (extract(epoch FROM judged_at) * 1000 - exp(random() * ln(1.6e11)))::bigint), 12, '0') || repeat('0', 20))::uuid);
BEGIN
  RETURN QUERY
  WITH RECURSIVE head AS MATERIALIZED (
    SELECT account_id, origin FROM webhook_delivery
     WHERE status = 'pending' AND due_at <= judged_at ORDER BY due_at LIMIT head_size
  ), ahead AS (
    (SELECT account_id FROM webhook_delivery
      WHERE due_at IS NOT NULL AND account_id >= starts_at AND (SELECT count(*) FROM head) = head_size
      ORDER BY account_id, origin LIMIT 1)
    UNION ALL
    SELECT n.account_id FROM ahead l CROSS JOIN LATERAL (
      SELECT d.account_id FROM webhook_delivery d
       WHERE d.due_at IS NOT NULL AND d.account_id > l.account_id ORDER BY d.account_id, d.origin LIMIT 1) n
  ), behind AS (
    (SELECT account_id FROM webhook_delivery
      WHERE due_at IS NOT NULL AND account_id < starts_at AND (SELECT count(*) FROM head) = head_size
      ORDER BY account_id, origin LIMIT 1)
    UNION ALL
    SELECT n.account_id FROM behind l CROSS JOIN LATERAL (
      SELECT d.account_id FROM webhook_delivery d
       WHERE d.due_at IS NOT NULL AND d.account_id < starts_at AND d.account_id > l.account_id
       ORDER BY d.account_id, d.origin LIMIT 1) n
  ), open AS MATERIALIZED (
    SELECT e.account_id FROM (SELECT account_id FROM ahead UNION ALL SELECT account_id FROM behind) e
     WHERE NOT EXISTS (
       SELECT FROM unnest(p_accounts, p_account_rooms) f (account_id, room)
        WHERE f.account_id = e.account_id AND f.room <= 0)
     LIMIT p_lanes
  ), stepped AS (
    SELECT e.account_id, s.origin FROM open e CROSS JOIN LATERAL (
      WITH RECURSIVE step AS (
        (SELECT d.origin FROM webhook_delivery d
          WHERE d.due_at IS NOT NULL AND d.account_id = e.account_id ORDER BY d.account_id, d.origin LIMIT 1)
        UNION ALL
        SELECT n.origin FROM step l CROSS JOIN LATERAL (
          SELECT d.origin FROM webhook_delivery d
           WHERE d.due_at IS NOT NULL AND d.account_id = e.account_id AND d.origin > l.origin
           ORDER BY d.account_id, d.origin LIMIT 1) n
      ) SELECT origin FROM step LIMIT greatest(8, p_lanes / (SELECT count(*) FROM open))) s
  ), lane AS (
    SELECT l.account_id, l.origin, coalesce(o.room, p_origin_room) AS origin_room,
           coalesce(a.room, p_account_room) AS account_room
      FROM (SELECT account_id, origin FROM head UNION SELECT account_id, origin FROM stepped) l
      LEFT JOIN unnest(p_origins, p_origin_rooms) o (origin, room) ON o.origin = l.origin
      LEFT JOIN unnest(p_accounts, p_account_rooms) a (account_id, room) ON a.account_id = l.account_id
     WHERE coalesce(o.room, p_origin_room) > 0 AND coalesce(a.room, p_account_room) > 0
  ), candidate AS (
    SELECT l.account_id, l.origin_room, l.account_room, d.id, d.due_at,
           row_number() OVER (PARTITION BY l.origin ORDER BY d.due_at, d.id) AS of_origin,
           row_number() OVER (PARTITION BY l.account_id ORDER BY d.due_at, d.id) AS of_account
      FROM lane l CROSS JOIN LATERAL (
        SELECT w.id, w.due_at FROM webhook_delivery w
         -- Rows, not equal columns: with those the index by due_at alone would do, which reads the backlog of all others.
         WHERE w.due_at IS NOT NULL
           AND (w.account_id, w.origin, w.due_at) >= (l.account_id, l.origin, '-infinity'::timestamptz)
           AND (w.account_id, w.origin, w.due_at) <= (l.account_id, l.origin, judged_at)
         ORDER BY w.account_id, w.origin, w.due_at LIMIT l.origin_room) d
  ), chosen AS MATERIALIZED (
    SELECT account_id, id FROM candidate
     WHERE of_origin <= origin_room AND of_account <= account_room
     ORDER BY due_at LIMIT p_limit
  ), locked AS MATERIALIZED (
    SELECT d.account_id, d.id, d.due_at FROM chosen c
      JOIN webhook_delivery d ON d.account_id = c.account_id AND d.id = c.id
       FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE webhook_delivery d
     SET due_at = judged_at + p_lease_ms * interval '1 millisecond', fence = d.fence + 1, is_under_way = true
    FROM locked l WHERE d.account_id = l.account_id AND d.id = l.id AND l.due_at <= judged_at
  RETURNING d.*;
END $$;

-- Logs attempts and, if the claim is still valid, applies their outcomes. p_waits are milliseconds until the next attempt. A
-- repeated report of an attempt changes nothing. The log keeps the newest 100 attempts: the fence of each attempt is another.
-- Deliveries are locked in the order of their ids, as response_redact does.
CREATE OR REPLACE FUNCTION webhook_record(
  p_accounts uuid[], p_ids uuid[], p_fences integer[], p_started timestamptz[], p_status_codes integer[], p_errors text[],
  p_durations integer[], p_statuses text[], p_retries integer[], p_waits bigint[]
) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  INSERT INTO webhook_attempt (account_id, delivery_id, fence, started_at, status_code, error, duration_ms)
    SELECT * FROM unnest(p_accounts, p_ids, p_fences, p_started, p_status_codes, p_errors, p_durations)
    ON CONFLICT DO NOTHING;
  DELETE FROM webhook_attempt w USING unnest(p_accounts, p_ids, p_fences) a (account_id, id, fence)
   WHERE w.account_id = a.account_id AND w.delivery_id = a.id AND w.fence <= a.fence - 100;
  UPDATE webhook_delivery d
     SET status = a.status, retry = a.retry, due_at = clock_timestamp() + a.wait * interval '1 millisecond',
         is_under_way = false
    FROM (SELECT * FROM unnest(p_accounts, p_ids, p_fences, p_statuses, p_retries, p_waits)
                 a (account_id, id, fence, status, retry, wait) ORDER BY account_id, id OFFSET 0) a
   WHERE d.account_id = a.account_id AND d.id = a.id AND d.fence = a.fence AND d.is_under_way;
END $$;
