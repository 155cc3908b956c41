-- The views of what usage counts, and the functions that read it and add it to the sums.

-- The bucket of a latency. Each bucket is a tenth wider than the one before, so its middle is within 5 % of every latency in
-- it.
CREATE OR REPLACE FUNCTION usage_bucket(p_ms bigint) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
  SELECT ceil(ln(greatest(p_ms, 1)::float8) / ln(1.1::float8))::smallint;
$$;

-- The hour of a time; hours of UTC, as days are.
CREATE OR REPLACE FUNCTION usage_hour_of(p_at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT date_trunc('hour', p_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
$$;

-- `cost` is what the call costs at its provider, null where that is not known; `costed` is 1 for a call that succeeded and whose cost is
-- known. A reversed charge counts as made, because what is given back is counted apart. What is charged for a late delivery counts by its
-- own row (late_charge).
CREATE OR REPLACE VIEW usage_call AS
  SELECT e.account_id, e.id, e.created_at, e.status <> 'running' AS is_final, e.completed_at AS ended_at,
         coalesce(e.api_key_id, '00000000-0000-0000-0000-000000000000'::uuid) AS api_key_id, e.model, e.endpoint,
         e.status = 'failed' AS is_failed,
         CASE WHEN e.status <> 'succeeded' THEN 0
              WHEN e.unit = 'token' THEN (e.quantity->>'promptTokens')::numeric + (e.quantity->>'completionTokens')::numeric
              ELSE coalesce((e.quantity #>> '{}')::numeric, 0) END AS quantity,
         CASE e.status WHEN 'succeeded' THEN e.charged
                       WHEN 'failed' THEN coalesce((SELECT -l.amount FROM ledger_entry l
                         WHERE l.account_id = e.account_id AND l.hold_id = e.id AND l.kind = 'charge'), 0) END AS charged,
         usage_bucket(e.duration_ms) AS bucket, e.held,
         CASE WHEN e.status = 'succeeded' AND e.unit = 'token' THEN coalesce((e.quantity->>'promptTokens')::bigint, 0) ELSE 0 END AS input_tokens,
         CASE WHEN e.status = 'succeeded' AND e.unit = 'token' THEN coalesce((e.quantity->>'cachedTokens')::bigint, 0) ELSE 0 END AS cached_tokens,
         CASE WHEN e.status = 'succeeded' AND e.unit = 'token' THEN coalesce((e.quantity->>'completionTokens')::bigint, 0) ELSE 0 END AS output_tokens,
         CASE WHEN e.status = 'succeeded' AND e.unit = 'token' THEN coalesce((e.quantity->>'reasoningTokens')::bigint, 0) ELSE 0 END AS reasoning_tokens,
         e.run, coalesce(e.provider, '') AS provider, coalesce(e.upstream_model, '') AS upstream_model, e.cost,
         CASE WHEN e.status = 'succeeded' AND e.cost IS NOT NULL THEN 1 ELSE 0 END AS costed,
         CASE WHEN e.status = 'succeeded' AND e.cost > e.charged THEN 1 ELSE 0 END AS below_cost
    FROM execution e
  UNION ALL
  SELECT t.account_id, t.id, t.created_at, t.status IN ('succeeded', 'failed', 'expired'),
         coalesce(h.resolved_at, t.completed_at), coalesce(t.api_key_id, '00000000-0000-0000-0000-000000000000'::uuid), t.model,
         coalesce(t.endpoint, task_former_endpoint(t.kind)),
         t.status <> 'succeeded' OR t.delivered_late,
         CASE WHEN t.status <> 'succeeded' OR t.delivered_late THEN 0
              WHEN t.unit = 'token' THEN (t.quantity->>'promptTokens')::numeric + (t.quantity->>'completionTokens')::numeric
              WHEN t.kind IN ('dubbing', 'song', 'video') THEN 1 ELSE coalesce((t.quantity #>> '{}')::numeric, 1) END,
         CASE WHEN t.delivered_late THEN 0 ELSE coalesce(t.charged, 0) END,
         usage_bucket((extract(epoch FROM t.completed_at - t.created_at) * 1000)::bigint), h.amount,
         CASE WHEN t.unit = 'token' THEN coalesce((t.quantity->>'promptTokens')::bigint, 0) ELSE 0 END,
         CASE WHEN t.unit = 'token' THEN coalesce((t.quantity->>'cachedTokens')::bigint, 0) ELSE 0 END,
         CASE WHEN t.unit = 'token' THEN coalesce((t.quantity->>'completionTokens')::bigint, 0) ELSE 0 END,
         CASE WHEN t.unit = 'token' THEN coalesce((t.quantity->>'reasoningTokens')::bigint, 0) ELSE 0 END, t.run,
         CASE WHEN t.on_sandbox THEN 'sandbox' ELSE t.provider END, t.upstream_model,
         CASE WHEN t.delivered_late THEN t.cost - coalesce((SELECT l.cost FROM late_charge l
           WHERE l.account_id = t.account_id AND l.id = t.id), 0) ELSE t.cost END,
         CASE WHEN t.status = 'succeeded' AND NOT t.delivered_late AND t.cost IS NOT NULL THEN 1 ELSE 0 END,
         CASE WHEN t.status = 'succeeded' AND NOT t.delivered_late AND t.cost > t.charged THEN 1 ELSE 0 END
    FROM task t LEFT JOIN hold h ON h.account_id = t.account_id AND h.id = t.id;
COMMENT ON VIEW usage_call IS 'Every recorded call and task as usage counts it: whether it is final, when it ended, what it counts.';

-- Charges that were given back, by whomever. Users see them on the day on which they were given back; for limits they leave the
-- day on which they were charged (reversed_at). Calls are looked up one by one (OFFSET 0), because no plan may read all of them.
-- usage_fold takes what is given back from the limit's count, and adds it again at reversed_at: so a late charge counts once.
CREATE OR REPLACE VIEW usage_given_back AS
  SELECT l.account_id, l.created_at,
         coalesce(c.api_key_id, r.api_key_id, '00000000-0000-0000-0000-000000000000') AS api_key_id,
         coalesce(c.model, r.model, '') AS model, coalesce(c.endpoint, r.endpoint, '') AS endpoint,
         -l.amount AS charged, coalesce(p.charged_at, c.ended_at, r.charged_at) AS reversed_at, l.reason, c.run,
         coalesce(c.provider, '') AS provider, coalesce(c.upstream_model, '') AS upstream_model, 0::bigint AS cost, 0 AS costed,
         0 AS below_cost
    FROM ledger_entry l
    LEFT JOIN LATERAL (
      SELECT * FROM usage_call u WHERE u.account_id = l.account_id AND u.id = l.hold_id OFFSET 0) c ON true
    LEFT JOIN late_reversal r ON r.account_id = l.account_id AND r.id = l.hold_id
    LEFT JOIN late_charge p ON p.account_id = l.account_id AND p.id = l.hold_id
   WHERE l.kind = 'correction' AND l.hold_id IS NOT NULL
  UNION ALL
  SELECT p.account_id, p.charged_at, p.api_key_id, p.model, p.endpoint, p.charged, p.charged_at, NULL, t.run,
         coalesce(t.provider, ''), coalesce(t.upstream_model, ''), coalesce(p.cost, 0), CASE WHEN p.cost IS NULL THEN -1 ELSE 0 END,
         CASE WHEN p.cost > p.charged THEN 1 ELSE 0 END
    FROM late_charge p
    LEFT JOIN LATERAL (
      SELECT run, CASE WHEN on_sandbox THEN 'sandbox' ELSE provider END AS provider, upstream_model FROM task
       WHERE account_id = p.account_id AND id = p.id OFFSET 0) t ON true;
COMMENT ON VIEW usage_given_back IS 'What was given back of charges, and what was charged late. The amount of what was given back is negative. Only what was charged late has a cost.';

-- Until when calls are in the sums. The planner asks it, so it knows that few calls are younger; of a subquery it assumes that a third
-- of all calls are, and reads them all. Each condition has both: the subquery first, because it is computed once and not for each row.
CREATE OR REPLACE FUNCTION usage_folded_until() RETURNS timestamptz LANGUAGE plpgsql STABLE COST 1000 SET jit = off AS $$
BEGIN
  RETURN (SELECT folded_until FROM usage_state);
END $$;

-- What has ended and is not folded yet, of one account or of all accounts (null). The few pending calls are looked up by key:
-- OFFSET 0 keeps the planner from joining them the other way round, which would read all calls ever made. `run` is empty for calls
-- of no run.
CREATE OR REPLACE FUNCTION usage_recent_v2(p_account uuid)
RETURNS TABLE (
  day date, account_id uuid, api_key_id uuid, model text, endpoint text, calls integer, failures integer, quantity numeric,
  charged bigint, bucket smallint, input_tokens bigint, cached_tokens bigint, output_tokens bigint, reasoning_tokens bigint,
  run text, provider text, upstream_model text, cost bigint, costed integer,
  below_cost integer, hour timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT (ended_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 1 AS calls,
         is_failed::int AS failures, quantity, charged, bucket, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
         coalesce(run, '') AS run, provider, upstream_model, coalesce(cost, 0) AS cost, costed, below_cost, usage_hour_of(ended_at) AS hour
    FROM usage_call c
   WHERE created_at > (SELECT folded_until FROM usage_state) AND created_at > usage_folded_until()
     AND is_final AND (p_account IS NULL OR c.account_id = p_account)
  UNION ALL
  SELECT (ended_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 1 AS calls,
         is_failed::int AS failures, quantity, charged, bucket, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
         coalesce(run, '') AS run, provider, upstream_model, coalesce(cost, 0) AS cost, costed, below_cost, usage_hour_of(ended_at) AS hour
    FROM (SELECT c.* FROM usage_pending p
           CROSS JOIN LATERAL (SELECT * FROM usage_call u WHERE u.account_id = p.account_id AND u.id = p.id OFFSET 0) c
           WHERE p_account IS NULL OR p.account_id = p_account) waited
   WHERE is_final
  UNION ALL
  SELECT (created_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 0 AS calls,
         0 AS failures, 0::numeric AS quantity, charged, NULL::smallint AS bucket, 0::bigint, 0::bigint, 0::bigint, 0::bigint,
         coalesce(run, '') AS run, provider, upstream_model, cost, costed, below_cost,
         usage_hour_of(created_at) AS hour
    FROM usage_given_back g
   WHERE created_at > (SELECT folded_until FROM usage_state) AND created_at > usage_folded_until() AND (p_account IS NULL OR g.account_id = p_account);
$$;

-- As processes of version 0.1.0 call it.
CREATE OR REPLACE FUNCTION usage_recent(p_account uuid)
RETURNS TABLE (
  day date, account_id uuid, api_key_id uuid, model text, endpoint text, calls integer, failures integer, quantity numeric,
  charged bigint, bucket smallint
) LANGUAGE sql STABLE AS $$
  SELECT day, account_id, api_key_id, model, endpoint, calls, failures, quantity, charged, bucket
    FROM usage_recent_v2(p_account);
$$;

-- What was given back from day p_from until before day p_to, by reason, of one account or of all accounts (null).
CREATE OR REPLACE FUNCTION usage_refunds(p_account uuid, p_from date, p_to date)
RETURNS TABLE (
  day date, account_id uuid, api_key_id uuid, model text, endpoint text, reason text, amount bigint, provider text,
  upstream_model text
) LANGUAGE sql STABLE AS $$
  SELECT day, account_id, api_key_id, model, endpoint, reason, amount, provider, upstream_model FROM usage_refund r
   WHERE day >= p_from AND day < p_to AND (p_account IS NULL OR r.account_id = p_account)
  UNION ALL
  SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, api_key_id, model, endpoint, coalesce(reason, ''), -charged,
         provider, upstream_model
    FROM usage_given_back g
   WHERE charged < 0 AND created_at > (SELECT folded_until FROM usage_state) AND created_at > usage_folded_until()
     AND created_at >= p_from::timestamp AT TIME ZONE 'UTC' AND created_at < p_to::timestamp AT TIME ZONE 'UTC'
     AND (p_account IS NULL OR g.account_id = p_account);
$$;

-- The same by hour, of the hours from p_from until before p_to.
CREATE OR REPLACE FUNCTION usage_hour_refunds(p_account uuid, p_from timestamptz, p_to timestamptz)
RETURNS TABLE (
  hour timestamptz, account_id uuid, api_key_id uuid, model text, endpoint text, reason text, amount bigint, provider text,
  upstream_model text
) LANGUAGE sql STABLE AS $$
  SELECT hour, account_id, api_key_id, model, endpoint, reason, amount, provider, upstream_model FROM usage_hour_refund r
   WHERE hour >= p_from AND hour < p_to AND (p_account IS NULL OR r.account_id = p_account)
  UNION ALL
  SELECT usage_hour_of(created_at), account_id, api_key_id, model, endpoint, coalesce(reason, ''), -charged, provider,
         upstream_model
    FROM usage_given_back g
   WHERE charged < 0 AND created_at > (SELECT folded_until FROM usage_state) AND created_at > usage_folded_until() AND created_at >= p_from AND created_at < p_to
     AND (p_account IS NULL OR g.account_id = p_account);
$$;

-- What usage_refunds has of calls that name a run, by run.
CREATE OR REPLACE FUNCTION usage_run_refunds(p_account uuid, p_from date, p_to date)
RETURNS TABLE (
  day date, account_id uuid, api_key_id uuid, model text, endpoint text, run text, reason text, amount bigint, provider text,
  upstream_model text
) LANGUAGE sql STABLE AS $$
  SELECT day, account_id, api_key_id, model, endpoint, run, reason, amount, provider, upstream_model FROM usage_run_refund r
   WHERE day >= p_from AND day < p_to AND (p_account IS NULL OR r.account_id = p_account)
  UNION ALL
  SELECT (created_at AT TIME ZONE 'UTC')::date, account_id, api_key_id, model, endpoint, run, coalesce(reason, ''), -charged,
         provider, upstream_model
    FROM usage_given_back g
   WHERE charged < 0 AND run IS NOT NULL AND created_at > (SELECT folded_until FROM usage_state) AND created_at > usage_folded_until()
     AND created_at >= p_from::timestamp AT TIME ZONE 'UTC' AND created_at < p_to::timestamp AT TIME ZONE 'UTC'
     AND (p_account IS NULL OR g.account_id = p_account);
$$;

-- Folds the next interval, of at most p_span; one process at a time. When every transaction that ran at candidate_at has
-- ended, an interval may end p_margin before candidate_at. That is when the transaction candidate_xid began, so those with a
-- greater id took it later. The xmax of a snapshot would not do: it is the oldest that runs where none has ended since. p_margin is the longest that a statement waits before it takes its
-- transaction id. is_behind: more can be folded at once. The statement that changes the sums of days also changes those of
-- hours and months.
CREATE OR REPLACE FUNCTION usage_fold(p_span interval, p_margin interval, OUT folded bigint, OUT is_behind boolean)
LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  state usage_state;
  safe timestamptz;
  stretch_end timestamptz;
BEGIN
  folded := 0;
  is_behind := false;
  SELECT * INTO state FROM usage_state FOR UPDATE SKIP LOCKED;
  IF NOT FOUND OR pg_snapshot_xmin(pg_current_snapshot()) < state.candidate_xid THEN
    RETURN;
  END IF;
  safe := state.candidate_at - p_margin;
  stretch_end := CASE WHEN safe IS NULL THEN state.folded_until ELSE least(safe, state.folded_until + p_span) END;
  IF stretch_end > state.folded_until THEN
    WITH scanned AS MATERIALIZED (
      SELECT * FROM usage_call WHERE created_at > state.folded_until AND created_at <= stretch_end
    ), waited AS MATERIALIZED (
      SELECT c.* FROM usage_pending p
       CROSS JOIN LATERAL (SELECT * FROM usage_call u WHERE u.account_id = p.account_id AND u.id = p.id OFFSET 0) c
       WHERE c.is_final
    ), ended AS (
      DELETE FROM usage_pending p USING waited w WHERE p.account_id = w.account_id AND p.id = w.id
    ), open AS (
      INSERT INTO usage_pending SELECT account_id, id FROM scanned WHERE NOT is_final
    ), given AS MATERIALIZED (
      SELECT * FROM usage_given_back WHERE created_at > state.folded_until AND created_at <= stretch_end
    ), event AS MATERIALIZED (
      SELECT (ended_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 1 AS calls,
             is_failed::int AS failures, quantity, charged, 0::bigint AS given_back, bucket,
             input_tokens, cached_tokens, output_tokens, reasoning_tokens, run, provider, upstream_model,
             coalesce(cost, 0) AS cost, costed, below_cost, usage_hour_of(ended_at) AS hour
        FROM (SELECT * FROM scanned WHERE is_final UNION ALL SELECT * FROM waited) c
      UNION ALL
      SELECT (created_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 0 AS calls, 0 AS failures,
             0::numeric AS quantity, charged AS charged, -charged AS given_back, NULL::smallint AS bucket,
             0::bigint AS input_tokens, 0::bigint AS cached_tokens, 0::bigint AS output_tokens, 0::bigint AS reasoning_tokens,
             run, provider, upstream_model, cost, costed, below_cost, usage_hour_of(created_at) AS hour
        FROM given
      UNION ALL
      SELECT (reversed_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 0 AS calls, 0 AS failures,
             0::numeric AS quantity, 0 AS charged, charged AS given_back, NULL::smallint AS bucket, 0, 0, 0, 0, NULL,
             provider, upstream_model, 0, 0, 0, NULL
        FROM given WHERE reversed_at IS NOT NULL
    ), refunds AS (
      INSERT INTO usage_refund AS r (account_id, day, api_key_id, model, endpoint, reason, provider, upstream_model, amount)
        SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, api_key_id, model, endpoint, coalesce(reason, ''), provider,
               upstream_model, -sum(charged)
          FROM given WHERE charged < 0 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        ON CONFLICT (account_id, day, api_key_id, model, endpoint, reason, provider, upstream_model) DO UPDATE SET amount = r.amount + excluded.amount
    ), holds AS (
      INSERT INTO usage_held AS h (account_id, month, held)
        SELECT account_id, month::date, sum(held)
          FROM (SELECT * FROM scanned WHERE is_final UNION ALL SELECT * FROM waited) c,
               generate_series(date_trunc('month', created_at AT TIME ZONE 'UTC'),
                 date_trunc('month', ended_at AT TIME ZONE 'UTC') - interval '1 month', interval '1 month') month
         WHERE held > 0 GROUP BY 1, 2
        ON CONFLICT (account_id, month) DO UPDATE SET held = h.held + excluded.held
    ), grain AS (
      SELECT * FROM event
      UNION ALL
      SELECT day, '00000000-0000-0000-0000-000000000000'::uuid, '00000000-0000-0000-0000-000000000000'::uuid,
             model, endpoint, calls, failures, quantity, charged, given_back, bucket,
             input_tokens, cached_tokens, output_tokens, reasoning_tokens, NULL, provider, upstream_model, cost, costed,
             below_cost, hour
        FROM event
    ), hours AS (
      INSERT INTO usage_hour AS d (account_id, hour, api_key_id, model, endpoint, provider, upstream_model, calls, failures,
                                   quantity, charged, input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost,
                                   costed, below_cost)
        SELECT account_id, hour, api_key_id, model, endpoint, provider, upstream_model, sum(calls), sum(failures),
               sum(quantity), sum(charged), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(reasoning_tokens),
               sum(cost), sum(costed), sum(below_cost)
          FROM grain WHERE hour IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7
        ON CONFLICT (account_id, hour, api_key_id, model, endpoint, provider, upstream_model) DO UPDATE
          SET calls = d.calls + excluded.calls, failures = d.failures + excluded.failures,
              quantity = d.quantity + excluded.quantity, charged = d.charged + excluded.charged,
              input_tokens = d.input_tokens + excluded.input_tokens,
              cached_tokens = d.cached_tokens + excluded.cached_tokens,
              output_tokens = d.output_tokens + excluded.output_tokens,
              reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens,
              cost = d.cost + excluded.cost, costed = d.costed + excluded.costed,
              below_cost = d.below_cost + excluded.below_cost
    ), hour_latencies AS (
      INSERT INTO usage_hour_latency AS l (account_id, hour, api_key_id, model, endpoint, bucket, provider, upstream_model, calls)
        SELECT account_id, hour, api_key_id, model, endpoint, bucket, provider, upstream_model, sum(calls)
          FROM grain WHERE bucket IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        ON CONFLICT (account_id, hour, api_key_id, model, endpoint, bucket, provider, upstream_model) DO UPDATE
          SET calls = l.calls + excluded.calls
    ), hour_refunds AS (
      INSERT INTO usage_hour_refund AS r (account_id, hour, api_key_id, model, endpoint, reason, provider, upstream_model, amount)
        SELECT account_id, usage_hour_of(created_at), api_key_id, model, endpoint, coalesce(reason, ''), provider,
               upstream_model, -sum(charged)
          FROM given WHERE charged < 0 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        ON CONFLICT (account_id, hour, api_key_id, model, endpoint, reason, provider, upstream_model) DO UPDATE
          SET amount = r.amount + excluded.amount
    ), runs AS (
      INSERT INTO usage_run AS d (account_id, day, run, api_key_id, model, endpoint, provider, upstream_model, calls, failures,
                                  quantity, charged, input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, costed,
                                  below_cost)
        SELECT account_id, day, run, api_key_id, model, endpoint, provider, upstream_model, sum(calls), sum(failures),
               sum(quantity), sum(charged), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(reasoning_tokens),
               sum(cost), sum(costed), sum(below_cost)
          FROM event WHERE run IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        ON CONFLICT (account_id, day, run, api_key_id, model, endpoint, provider, upstream_model) DO UPDATE
          SET calls = d.calls + excluded.calls, failures = d.failures + excluded.failures,
              quantity = d.quantity + excluded.quantity, charged = d.charged + excluded.charged,
              input_tokens = d.input_tokens + excluded.input_tokens,
              cached_tokens = d.cached_tokens + excluded.cached_tokens,
              output_tokens = d.output_tokens + excluded.output_tokens,
              reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens,
              cost = d.cost + excluded.cost, costed = d.costed + excluded.costed,
              below_cost = d.below_cost + excluded.below_cost
    ), run_latencies AS (
      INSERT INTO usage_run_latency AS l (account_id, day, run, api_key_id, model, endpoint, bucket, provider, upstream_model,
                                          calls)
        SELECT account_id, day, run, api_key_id, model, endpoint, bucket, provider, upstream_model, sum(calls)
          FROM event WHERE run IS NOT NULL AND bucket IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
        ON CONFLICT (account_id, day, run, api_key_id, model, endpoint, bucket, provider, upstream_model) DO UPDATE
          SET calls = l.calls + excluded.calls
    ), run_refunds AS (
      INSERT INTO usage_run_refund AS r (account_id, day, run, api_key_id, model, endpoint, reason, provider, upstream_model,
                                         amount)
        SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, run, api_key_id, model, endpoint, coalesce(reason, ''), provider,
               upstream_model, -sum(charged)
          FROM given WHERE charged < 0 AND run IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
        ON CONFLICT (account_id, day, run, api_key_id, model, endpoint, reason, provider, upstream_model) DO UPDATE
          SET amount = r.amount + excluded.amount
    ), days AS (
      INSERT INTO usage_day AS d (account_id, day, api_key_id, model, endpoint, provider, upstream_model, calls, failures,
                                  quantity, charged, given_back, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
                                  cost, costed, below_cost)
        SELECT account_id, day, api_key_id, model, endpoint, provider, upstream_model, sum(calls), sum(failures), sum(quantity),
               sum(charged), sum(given_back), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(reasoning_tokens),
               sum(cost), sum(costed), sum(below_cost)
          FROM grain GROUP BY 1, 2, 3, 4, 5, 6, 7
        ON CONFLICT (account_id, day, api_key_id, model, endpoint, provider, upstream_model) DO UPDATE
          SET calls = d.calls + excluded.calls, failures = d.failures + excluded.failures,
              quantity = d.quantity + excluded.quantity, charged = d.charged + excluded.charged,
              given_back = d.given_back + excluded.given_back,
              input_tokens = d.input_tokens + excluded.input_tokens,
              cached_tokens = d.cached_tokens + excluded.cached_tokens,
              output_tokens = d.output_tokens + excluded.output_tokens,
              reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens,
              cost = d.cost + excluded.cost, costed = d.costed + excluded.costed,
              below_cost = d.below_cost + excluded.below_cost
    ), latencies AS (
      INSERT INTO usage_latency AS l (account_id, day, api_key_id, model, endpoint, bucket, provider, upstream_model, calls)
        SELECT account_id, day, api_key_id, model, endpoint, bucket, provider, upstream_model, sum(calls)
          FROM grain WHERE bucket IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        ON CONFLICT (account_id, day, api_key_id, model, endpoint, bucket, provider, upstream_model) DO UPDATE
          SET calls = l.calls + excluded.calls
    ), months AS (
      INSERT INTO usage_month AS m (account_id, month, api_key_id, calls, failures, quantity, charged,
                                    input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, costed,
                                  below_cost)
        SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, sum(calls), sum(failures),
               sum(quantity), sum(charged), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(reasoning_tokens),
               sum(cost), sum(costed), sum(below_cost)
          FROM event GROUP BY 1, 2, 3
        ON CONFLICT (account_id, month, api_key_id) DO UPDATE
          SET calls = m.calls + excluded.calls, failures = m.failures + excluded.failures,
              quantity = m.quantity + excluded.quantity, charged = m.charged + excluded.charged,
              input_tokens = m.input_tokens + excluded.input_tokens,
              cached_tokens = m.cached_tokens + excluded.cached_tokens,
              output_tokens = m.output_tokens + excluded.output_tokens,
              reasoning_tokens = m.reasoning_tokens + excluded.reasoning_tokens,
              cost = m.cost + excluded.cost, costed = m.costed + excluded.costed,
              below_cost = m.below_cost + excluded.below_cost
    ), month_latencies AS (
      INSERT INTO usage_month_latency AS l (account_id, month, api_key_id, bucket, calls)
        SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, bucket, sum(calls)
          FROM event WHERE bucket IS NOT NULL GROUP BY 1, 2, 3, 4
        ON CONFLICT (account_id, month, api_key_id, bucket) DO UPDATE SET calls = l.calls + excluded.calls
    ), accounts AS (
      INSERT INTO usage_account AS a (account_id, charged, cost)
        SELECT account_id, sum(charged), sum(cost) FROM event GROUP BY 1
        ON CONFLICT (account_id) DO UPDATE SET charged = a.charged + excluded.charged, cost = a.cost + excluded.cost
    )
    SELECT count(*) INTO folded FROM event;
    UPDATE usage_state SET folded_until = stretch_end;
    is_behind := stretch_end < safe;
  END IF;
  IF NOT is_behind THEN
    UPDATE usage_state SET candidate_at = now(), candidate_xid = pg_current_xact_id();
  END IF;
END $$;
