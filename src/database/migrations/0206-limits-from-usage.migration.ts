import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The first count of a key's limit starts from the sums of usage and reads only the calls and tasks that are not in them yet:
 * setting a limit on a key with millions of calls holds the account's lock for milliseconds, and dropped records still count.
 * Also restores the signatures that task_submit had before 0190, so that processes of the former version can still submit tasks
 * to a migrated database.
 */
export class LimitsFromUsage1700000000206 implements MigrationInterface {
  readonly name = 'LimitsFromUsage1700000000206';

  async up(runner: QueryRunner): Promise<void> {
    await countGivenBack(runner);
    await runner.query(UNFOLDED);
    await runner.query(ROOM);
    await runner.query(SUBMIT_BEFORE);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The functions before these are gone: restore a backup'));
  }
}

/** Counts what was given back apart, so that a refund frees nothing of a limit. Also run by 0243. */
export async function countGivenBack(runner: QueryRunner): Promise<void> {
  await runner.query(GIVEN_BACK);
  await runner.query(FOLD);
  await runner.query(NOTE_GIVEN_BACK);
  await runner.query(SPENT);
}

const ZERO = `'00000000-0000-0000-0000-000000000000'::uuid`;

/**
 * Users see `charged` of a day, less what was given back on it. `charged + given_back` counts towards a limit: a refund does not
 * free the limit, and a reversed charge is subtracted from the day it was made on. The first lock keeps usage_fold from running.
 */
const GIVEN_BACK = `
  SELECT FROM usage_state FOR UPDATE; ALTER TABLE usage_day ADD COLUMN given_back bigint NOT NULL DEFAULT 0;
  CREATE OR REPLACE VIEW usage_given_back AS
    SELECT l.account_id, l.created_at, coalesce(c.api_key_id, ${ZERO}) AS api_key_id, coalesce(c.model, '') AS model,
           coalesce(c.endpoint, '') AS endpoint, -l.amount AS charged,
           CASE WHEN c.is_failed THEN c.ended_at END AS reversed_at
      FROM ledger_entry l
      LEFT JOIN LATERAL (
        SELECT * FROM usage_call u WHERE u.account_id = l.account_id AND u.id = l.hold_id OFFSET 0) c ON true
     WHERE l.kind = 'correction' AND l.hold_id IS NOT NULL;`;

const ADDED = `(ended_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 1 AS calls,
           is_failed::int AS failures, quantity, charged, 0::bigint AS given_back, bucket`;
const moved = (at: string, charged: string, givenBack: string) =>
  `(${at} AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 0 AS calls, 0 AS failures,
           0::numeric AS quantity, ${charged} AS charged, ${givenBack} AS given_back, NULL::smallint AS bucket`;

/** As before, with what was given back. */
const FOLD = `
  CREATE OR REPLACE FUNCTION usage_fold(p_span interval, p_margin interval, OUT folded bigint, OUT is_behind boolean)
  LANGUAGE plpgsql AS $$
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
         CROSS JOIN LATERAL (SELECT * FROM usage_call u WHERE u.account_id = p.account_id AND u.id = p.id) c
         WHERE c.is_final
      ), ended AS (
        DELETE FROM usage_pending p USING waited w WHERE p.account_id = w.account_id AND p.id = w.id
      ), open AS (
        INSERT INTO usage_pending SELECT account_id, id FROM scanned WHERE NOT is_final
      ), given AS MATERIALIZED (
        SELECT * FROM usage_given_back WHERE created_at > state.folded_until AND created_at <= stretch_end
      ), event AS MATERIALIZED (
        SELECT ${ADDED} FROM (SELECT * FROM scanned WHERE is_final UNION ALL SELECT * FROM waited) c
        UNION ALL
        SELECT ${moved('created_at', 'charged', '-charged')} FROM given
        UNION ALL
        SELECT ${moved('reversed_at', '0', 'charged')} FROM given WHERE reversed_at IS NOT NULL
      ), grain AS (
        SELECT * FROM event
        UNION ALL
        SELECT day, ${ZERO}, ${ZERO}, model, endpoint, calls, failures, quantity, charged, given_back, bucket FROM event
      ), days AS (
        INSERT INTO usage_day AS d (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged, given_back)
          SELECT account_id, day, api_key_id, model, endpoint, sum(calls), sum(failures), sum(quantity), sum(charged), sum(given_back)
            FROM grain GROUP BY 1, 2, 3, 4, 5
          ON CONFLICT (account_id, day, api_key_id, model, endpoint) DO UPDATE
            SET calls = d.calls + excluded.calls, failures = d.failures + excluded.failures, quantity = d.quantity + excluded.quantity,
                charged = d.charged + excluded.charged, given_back = d.given_back + excluded.given_back
      ), latencies AS (
        INSERT INTO usage_latency AS l (account_id, day, api_key_id, model, endpoint, bucket, calls)
          SELECT account_id, day, api_key_id, model, endpoint, bucket, sum(calls)
            FROM grain WHERE bucket IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6
          ON CONFLICT (account_id, day, api_key_id, model, endpoint, bucket) DO UPDATE SET calls = l.calls + excluded.calls
      ), accounts AS (
        INSERT INTO usage_account AS a (account_id, charged)
          SELECT account_id, sum(charged) FROM event GROUP BY 1
          ON CONFLICT (account_id) DO UPDATE SET charged = a.charged + excluded.charged
      )
      SELECT count(*) INTO folded FROM event;
      UPDATE usage_state SET folded_until = stretch_end;
      is_behind := stretch_end < safe;
    END IF;
    IF NOT is_behind THEN
      UPDATE usage_state SET candidate_at = clock_timestamp(), candidate_xid = pg_snapshot_xmax(pg_current_snapshot());
    END IF;
  END $$;`;

/** Corrects the sums of what is folded already. */
const NOTE_GIVEN_BACK = `
  WITH given AS MATERIALIZED (
    SELECT * FROM usage_given_back WHERE created_at <= (SELECT folded_until FROM usage_state)
  ), event AS (
    SELECT ${moved('created_at', 'charged', '-charged')} FROM given
    UNION ALL
    SELECT ${moved('reversed_at', '0', 'charged')} FROM given WHERE reversed_at IS NOT NULL)
  UPDATE usage_day d SET given_back = e.total
    FROM (SELECT account_id, day, api_key_id, model, endpoint, sum(given_back) AS total FROM event GROUP BY 1, 2, 3, 4, 5) e
   WHERE (d.account_id, d.day, d.api_key_id, d.model, d.endpoint) = (e.account_id, e.day, e.api_key_id, e.model, e.endpoint);`;

// No plan may read all calls, even if it was made while the tables were empty.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** The calls and tasks of a key that usage_day does not count yet: what each costs or holds, and whether it is still open. */
const UNFOLDED = `
  CREATE FUNCTION key_unfolded(p_account uuid, p_key uuid)
  RETURNS TABLE (is_task boolean, id uuid, created_at timestamptz, amount bigint, is_open boolean)
  LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  #variable_conflict use_column
  DECLARE
    folded timestamptz := (SELECT folded_until FROM usage_state);
    first uuid := first_id_since(folded);
  BEGIN
    RETURN QUERY
    SELECT false, e.id, e.created_at,
           CASE e.status WHEN 'running' THEN e.held WHEN 'succeeded' THEN e.charged ELSE 0 END, e.status = 'running'
      FROM (SELECT * FROM execution x
             WHERE x.api_key_id = p_key AND x.id >= first AND x.account_id = p_account AND x.created_at > folded
            UNION ALL
            SELECT x.* FROM usage_pending p
             CROSS JOIN LATERAL (SELECT * FROM execution y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
             WHERE p.account_id = p_account AND x.api_key_id = p_key) e
    UNION ALL
    SELECT true, t.id, t.created_at,
           CASE WHEN t.status = 'succeeded' THEN t.charged WHEN t.status IN ('failed', 'expired') THEN 0 ELSE t.reserved END,
           t.status IN ('queued', 'processing', 'reconciliation_required')
      FROM (SELECT * FROM task x
             WHERE x.account_id = p_account AND x.id >= first AND x.api_key_id = p_key AND x.created_at > folded
            UNION ALL
            SELECT x.* FROM usage_pending p
             CROSS JOIN LATERAL (SELECT * FROM task y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
             WHERE p.account_id = p_account AND x.api_key_id = p_key) t;
  END $$;`;

/**
 * What a key has spent since the start of a period, and holds. Sums of usage count on the day a call ended, less what was
 * reversed but not what was refunded. Calls that are not in the sums count on the day they began.
 */
const SPENT = `
  CREATE OR REPLACE FUNCTION key_spent(p_account uuid, p_key uuid, p_from timestamptz) RETURNS bigint
  LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  BEGIN
    RETURN (
      SELECT coalesce(sum(charged + given_back), 0) FROM usage_day
       WHERE account_id = p_account AND api_key_id = p_key
         AND day >= CASE WHEN p_from > '-infinity' THEN (p_from AT TIME ZONE 'UTC')::date ELSE '-infinity' END)
    + (SELECT coalesce(sum(amount), 0) FROM key_unfolded(p_account, p_key) WHERE created_at >= p_from);
  END $$;`;

/**
 * What a key may still spend; the account is locked. `room` is null for a key without a limit; `counts_in` is the period to
 * which new calls are counted, null while their sum is still read from the calls.
 */
const ROOM = `
  CREATE OR REPLACE FUNCTION key_room(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamptz)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    terms record;
    known key_spend;
    start timestamptz;
    total bigint;
    open_calls uuid[];
    open_tasks uuid[];
    locked_tasks int;
  BEGIN
    SELECT spend_limit, spend_limit_period AS period, coalesce(spend_limit_since, '-infinity') AS since
      INTO terms FROM api_key WHERE id = p_key;
    IF terms.spend_limit IS NULL THEN
      RETURN;
    END IF;
    start := key_period_start(terms.period, clock_timestamp());
    SELECT * INTO known FROM key_spend WHERE account_id = p_account AND api_key_id = p_key;
    IF known.period = terms.period AND known.begun_at > terms.since THEN
      IF known.period_start < start THEN
        UPDATE key_spend SET period_start = start, spent = 0 WHERE account_id = p_account AND api_key_id = p_key;
        known.spent := 0;
        known.period_start := start;
      END IF;
      room := terms.spend_limit - known.spent;
      counts_in := known.period_start;
      RETURN;
    END IF;

    total := key_spent(p_account, p_key, start);
    room := terms.spend_limit - total;
    IF clock_timestamp() < terms.since + interval '3 seconds' THEN
      RETURN;
    END IF;
    SELECT coalesce(array_agg(id) FILTER (WHERE is_task), '{}'), coalesce(array_agg(id) FILTER (WHERE NOT is_task), '{}')
      INTO open_tasks, open_calls FROM key_unfolded(p_account, p_key) WHERE is_open AND created_at >= start;
    -- Whoever ends a task has its row and waits for the account: the counter begins with a later call then.
    SELECT count(*) INTO locked_tasks FROM (
      SELECT FROM task WHERE account_id = p_account AND id = ANY (open_tasks) FOR NO KEY UPDATE SKIP LOCKED) t;
    IF locked_tasks < cardinality(open_tasks) THEN
      RETURN;
    END IF;
    UPDATE task SET spend_period = start WHERE account_id = p_account AND id = ANY (open_tasks);
    UPDATE execution SET spend_period = start WHERE account_id = p_account AND id = ANY (open_calls) AND status = 'running';
    INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
      VALUES (p_account, p_key, terms.period, start, total, clock_timestamp())
      ON CONFLICT (account_id, api_key_id) DO UPDATE
        SET period = excluded.period, period_start = excluded.period_start, spent = excluded.spent,
            begun_at = excluded.begun_at;
    counts_in := start;
  END $$;`;

const BEFORE = (name: string) => `
  CREATE FUNCTION ${name}(
    p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text,
    p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text,
    p_amount bigint, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid,
    OUT outcome text, OUT created timestamptz
  ) LANGUAGE sql AS $$
    SELECT t.outcome, t.created FROM ${name}(
      p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider, p_base_url,
      p_on_sandbox, p_upstream_model, p_lane, p_amount, NULL::text, NULL::jsonb, NULL::jsonb, p_webhook_url,
      p_webhook_secret, p_endpoint, p_key, p_token) t;
  $$;`;

/** As gateways before 0190 call them: without the basis of the price. */
const SUBMIT_BEFORE = `${BEFORE('task_submit')}${BEFORE('task_submit_capped')}`;
