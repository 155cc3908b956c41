import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What each key used in each month, so that usage of all accounts and keys over a year is read by month and not by day and
 * model. The days at the ends of a span are found by an index of their own. The statement that changes the sums of days also
 * changes those of months.
 */
export class UsageMonths1700000000255 implements MigrationInterface {
  readonly name = 'UsageMonths1700000000255';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(FILL);
    await runner.query(FOLD);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The function before this one is gone: restore a backup'));
  }
}

const ZERO = `'00000000-0000-0000-0000-000000000000'::uuid`;
const MONTH = `date_trunc('month', day::timestamp)::date`;

/**
 * The lock keeps usage_fold from running. A session that has begun the former usage_fold may get the lock after this: without a
 * candidate it adds nothing.
 */
const TABLES = `
  UPDATE usage_state SET candidate_at = NULL;
  CREATE TABLE usage_month (
    account_id uuid NOT NULL,
    month date NOT NULL,
    api_key_id uuid NOT NULL,
    calls bigint NOT NULL,
    failures bigint NOT NULL,
    quantity numeric NOT NULL,
    charged bigint NOT NULL,
    PRIMARY KEY (account_id, month, api_key_id)
  ) WITH (fillfactor = 70);
  CREATE TABLE usage_month_latency (
    account_id uuid NOT NULL,
    month date NOT NULL,
    api_key_id uuid NOT NULL,
    bucket smallint NOT NULL,
    calls bigint NOT NULL,
    PRIMARY KEY (account_id, month, api_key_id, bucket)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_day_by_day ON usage_day (day);
  CREATE INDEX usage_latency_by_day ON usage_latency (day);`;

const FILL = `
  INSERT INTO usage_month
    SELECT account_id, ${MONTH}, api_key_id, sum(calls), sum(failures), sum(quantity), sum(charged)
      FROM usage_day WHERE account_id <> ${ZERO} GROUP BY 1, 2, 3;
  INSERT INTO usage_month_latency
    SELECT account_id, ${MONTH}, api_key_id, bucket, sum(calls)
      FROM usage_latency WHERE account_id <> ${ZERO} GROUP BY 1, 2, 3, 4;`;

const ADDED = `(ended_at AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 1 AS calls,
           is_failed::int AS failures, quantity, charged, 0::bigint AS given_back, bucket`;
const moved = (at: string, charged: string, givenBack: string) =>
  `(${at} AT TIME ZONE 'UTC')::date AS day, account_id, api_key_id, model, endpoint, 0 AS calls, 0 AS failures,
           0::numeric AS quantity, ${charged} AS charged, ${givenBack} AS given_back, NULL::smallint AS bucket`;

/** As before, and for months too. */
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
      ), months AS (
        INSERT INTO usage_month AS m (account_id, month, api_key_id, calls, failures, quantity, charged)
          SELECT account_id, ${MONTH}, api_key_id, sum(calls), sum(failures), sum(quantity), sum(charged)
            FROM event GROUP BY 1, 2, 3
          ON CONFLICT (account_id, month, api_key_id) DO UPDATE
            SET calls = m.calls + excluded.calls, failures = m.failures + excluded.failures, quantity = m.quantity + excluded.quantity,
                charged = m.charged + excluded.charged
      ), month_latencies AS (
        INSERT INTO usage_month_latency AS l (account_id, month, api_key_id, bucket, calls)
          SELECT account_id, ${MONTH}, api_key_id, bucket, sum(calls)
            FROM event WHERE bucket IS NOT NULL GROUP BY 1, 2, 3, 4
          ON CONFLICT (account_id, month, api_key_id, bucket) DO UPDATE SET calls = l.calls + excluded.calls
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
