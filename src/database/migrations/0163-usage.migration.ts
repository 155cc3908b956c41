import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was used, per day, account, key, model and endpoint: sums to which ended calls are added later, never during a call.
 *
 * To fold calls is to add them to the sums, in the order they began. The calls of an interval of time are read once: ended calls
 * are added; the others are remembered in `usage_pending` and added when they have ended. An interval ends before the oldest
 * transaction that may still write into it, so no call is missed. Calls that are not folded yet are read one by one
 * (`usage_recent`); with the sums they always equal the ledger. A charge counts on the day it is made, and what is given back
 * counts on the day it is given back.
 *
 * Rows whose account and key are zero have the sums of all accounts, for operators.
 */
export class Usage1700000000163 implements MigrationInterface {
  readonly name = 'Usage1700000000163';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(VIEWS);
    await runner.query(RECENT);
    await runner.query(FOLD);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION usage_fold, usage_recent;
      DROP VIEW usage_given_back, usage_call;
      DROP FUNCTION usage_bucket;
      DROP INDEX ledger_entry_given_back, task_by_time;
      DROP TABLE usage_state, usage_pending, usage_account, usage_latency, usage_day;`);
  }
}

const ZERO = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** `usage_account` has the sum of each account's days, for the audit. */
const TABLES = `
  CREATE TABLE usage_day (
    account_id uuid NOT NULL,
    day date NOT NULL,
    api_key_id uuid NOT NULL,
    model text NOT NULL,
    endpoint text NOT NULL,
    calls bigint NOT NULL,
    failures bigint NOT NULL,
    quantity numeric NOT NULL,
    charged bigint NOT NULL,
    PRIMARY KEY (account_id, day, api_key_id, model, endpoint)
  ) WITH (fillfactor = 70);
  CREATE TABLE usage_latency (
    account_id uuid NOT NULL,
    day date NOT NULL,
    api_key_id uuid NOT NULL,
    model text NOT NULL,
    endpoint text NOT NULL,
    bucket smallint NOT NULL,
    calls bigint NOT NULL,
    PRIMARY KEY (account_id, day, api_key_id, model, endpoint, bucket)
  ) WITH (fillfactor = 70);
  CREATE TABLE usage_account (account_id uuid PRIMARY KEY, charged bigint NOT NULL) WITH (fillfactor = 50);
  CREATE TABLE usage_pending (account_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (account_id, id));
  CREATE TABLE usage_state (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    folded_until timestamptz NOT NULL,
    candidate_at timestamptz,
    candidate_xid xid8
  );
  INSERT INTO usage_state (folded_until)
    SELECT least(now(), (SELECT min(created_at) FROM execution), (SELECT min(created_at) FROM task),
                 (SELECT min(created_at) FROM ledger_entry WHERE kind = 'correction' AND hold_id IS NOT NULL))
           - interval '1 second';
  CREATE INDEX task_by_time ON task USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
  CREATE INDEX ledger_entry_given_back ON ledger_entry (created_at) WHERE kind = 'correction' AND hold_id IS NOT NULL;`;

/**
 * Calls and tasks, and the charges that were given back. A reversed charge counts as made, because what is given back is counted
 * apart. Each bucket of latencies is a tenth wider than the one before, so its middle is within 5 % of every latency in it.
 */
const VIEWS = `
  CREATE FUNCTION usage_bucket(p_ms bigint) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT ceil(ln(greatest(p_ms, 1)::float8) / ln(1.1::float8))::smallint;
  $$;

  CREATE VIEW usage_call AS
    SELECT e.account_id, e.id, e.created_at, e.status <> 'running' AS is_final, e.completed_at AS ended_at,
           coalesce(e.api_key_id, ${ZERO}) AS api_key_id, e.model, e.endpoint, e.status = 'failed' AS is_failed,
           CASE WHEN e.status <> 'succeeded' THEN 0
                WHEN e.unit = 'token' THEN (e.quantity->>'promptTokens')::numeric + (e.quantity->>'completionTokens')::numeric
                ELSE coalesce((e.quantity #>> '{}')::numeric, 0) END AS quantity,
           CASE e.status WHEN 'succeeded' THEN e.charged
                         WHEN 'failed' THEN coalesce((SELECT -l.amount FROM ledger_entry l
                           WHERE l.account_id = e.account_id AND l.hold_id = e.id AND l.kind = 'charge'), 0) END AS charged,
           usage_bucket(e.duration_ms) AS bucket
      FROM execution e
    UNION ALL
    SELECT t.account_id, t.id, t.created_at, t.status IN ('succeeded', 'failed', 'expired'),
           coalesce(h.resolved_at, t.completed_at), coalesce(t.api_key_id, ${ZERO}), t.model,
           CASE t.kind WHEN 'dubbing' THEN '/v1/audio/dubbing' WHEN 'song' THEN '/v1/music/generations'
                       WHEN 'video' THEN '/v1/videos' ELSE t.kind END,
           t.status <> 'succeeded', CASE WHEN t.status = 'succeeded' THEN 1 ELSE 0 END, coalesce(t.charged, 0),
           usage_bucket((extract(epoch FROM t.completed_at - t.created_at) * 1000)::bigint)
      FROM task t LEFT JOIN hold h ON h.account_id = t.account_id AND h.id = t.id;

  CREATE VIEW usage_given_back AS
    SELECT l.account_id, l.created_at, coalesce(e.api_key_id, ${ZERO}) AS api_key_id, coalesce(e.model, '') AS model,
           coalesce(e.endpoint, '') AS endpoint, -l.amount AS charged
      FROM ledger_entry l LEFT JOIN execution e ON e.account_id = l.account_id AND e.id = l.hold_id
     WHERE l.kind = 'correction' AND l.hold_id IS NOT NULL;`;

const ADDED = `(ended_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 1 AS calls,
           is_failed::int AS failures, quantity, charged, bucket`;
const GIVEN_BACK = `(created_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 0 AS calls,
           0 AS failures, 0::numeric AS quantity, charged, NULL::smallint AS bucket`;

/** What has ended and is not folded yet, of one account or of all accounts (null). */
const RECENT = `
  CREATE FUNCTION usage_recent(p_account uuid) RETURNS TABLE (
    day date, account_id uuid, api_key_id uuid, model text, endpoint text, calls int, failures int, quantity numeric,
    charged bigint, bucket smallint
  ) LANGUAGE sql STABLE AS $$
    SELECT ${ADDED} FROM usage_call c
     WHERE created_at > (SELECT folded_until FROM usage_state) AND is_final AND (p_account IS NULL OR c.account_id = p_account)
    UNION ALL
    SELECT ${ADDED}
      FROM (SELECT c.* FROM usage_pending p
             CROSS JOIN LATERAL (SELECT * FROM usage_call u WHERE u.account_id = p.account_id AND u.id = p.id) c
             WHERE p_account IS NULL OR p.account_id = p_account) waited
     WHERE is_final
    UNION ALL
    SELECT ${GIVEN_BACK} FROM usage_given_back g
     WHERE created_at > (SELECT folded_until FROM usage_state) AND (p_account IS NULL OR g.account_id = p_account);
  $$;`;

/**
 * Folds the next interval, of at most p_span; one process at a time. When every transaction that ran at candidate_at has ended,
 * an interval may end p_margin before candidate_at. p_margin is the longest that a statement waits before it takes its
 * transaction id. is_behind: more can be folded at once.
 */
const FOLD = `
  CREATE FUNCTION usage_fold(p_span interval, p_margin interval, OUT folded bigint, OUT is_behind boolean)
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
      ), event AS MATERIALIZED (
        SELECT ${ADDED} FROM (SELECT * FROM scanned WHERE is_final UNION ALL SELECT * FROM waited) c
        UNION ALL
        SELECT ${GIVEN_BACK} FROM usage_given_back WHERE created_at > state.folded_until AND created_at <= stretch_end
      ), grain AS (
        SELECT * FROM event
        UNION ALL
        SELECT day, ${ZERO}, ${ZERO}, model, endpoint, calls, failures, quantity, charged, bucket FROM event
      ), days AS (
        INSERT INTO usage_day AS d (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged)
          SELECT account_id, day, api_key_id, model, endpoint, sum(calls), sum(failures), sum(quantity), sum(charged)
            FROM grain GROUP BY 1, 2, 3, 4, 5
          ON CONFLICT (account_id, day, api_key_id, model, endpoint) DO UPDATE
            SET calls = d.calls + excluded.calls, failures = d.failures + excluded.failures,
                quantity = d.quantity + excluded.quantity, charged = d.charged + excluded.charged
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
