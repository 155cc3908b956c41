import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Webhook deliveries, the log of their attempts, and the two functions of the worker (API: Webhook events; decisions G-80 to G-83).
 *
 * `due_at` is the time when the next attempt may begin or, while an attempt runs, when its lease ends. `fence` counts the
 * claims: the attempt of a worker that was paused beyond its lease is logged but changes nothing else. `retry` says which wait
 * of the schedule follows the next failure; null: none, because this attempt was requested by hand.
 */
export class CreateWebhooks1700000000070 implements MigrationInterface {
  readonly name = 'CreateWebhooks1700000000070';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(CLAIM);
    await runner.query(RECORD);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION webhook_record, webhook_claim;
      DROP TABLE webhook_attempt, webhook_delivery;`);
  }
}

const TABLES = `
  CREATE TABLE webhook_delivery (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    owner_id uuid NOT NULL,
    url text NOT NULL,
    origin text NOT NULL,
    sealed_secret text,
    body bytea NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
    retry integer DEFAULT 0 CHECK (retry >= 0),
    due_at timestamptz,
    fence integer NOT NULL DEFAULT 0,
    is_under_way boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'pending') = (due_at IS NOT NULL))
  ) WITH (fillfactor = 80);
  CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at, origin) WHERE status = 'pending';
  CREATE INDEX webhook_delivery_of_owner ON webhook_delivery (owner_id, id);
  CREATE INDEX webhook_delivery_by_id ON webhook_delivery (id);

  CREATE TABLE webhook_attempt (
    account_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    fence integer NOT NULL,
    started_at timestamptz NOT NULL,
    status_code integer,
    error text,
    duration_ms integer NOT NULL,
    PRIMARY KEY (account_id, delivery_id, fence)
  );`;

// No plan may read all deliveries, however old the statistics are.
const BY_INDEX = `
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off`;

/**
 * Claims at most p_limit due deliveries, the longest due first, and leases them. Of an origin and of an account it takes
 * no more than their room: p_origins and p_accounts name those with less room than p_origin_room and p_account_room. It looks
 * at a few times as many candidates, so that an origin with a long queue does not fill them; the caller asks again.
 */
const CLAIM = `
  CREATE FUNCTION webhook_claim(
    p_now timestamptz, p_lease_ms integer, p_limit integer,
    p_origin_room integer, p_origins text[], p_origin_rooms integer[],
    p_account_room integer, p_accounts uuid[], p_account_rooms integer[]
  ) RETURNS SETOF webhook_delivery LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    full_origins text[] := ARRAY(SELECT o FROM unnest(p_origins, p_origin_rooms) t (o, room) WHERE room <= 0);
    full_accounts uuid[] := ARRAY(SELECT a FROM unnest(p_accounts, p_account_rooms) t (a, room) WHERE room <= 0);
  BEGIN
    RETURN QUERY
    WITH candidate AS MATERIALIZED (
      SELECT account_id, id, origin, due_at FROM webhook_delivery
       WHERE status = 'pending' AND due_at <= p_now
         AND origin <> ALL (full_origins) AND account_id <> ALL (full_accounts)
       ORDER BY due_at LIMIT p_limit * 4
    ), placed AS (
      SELECT c.account_id, c.id, c.origin, c.due_at,
             row_number() OVER (PARTITION BY c.origin ORDER BY c.due_at, c.id) AS of_origin,
             row_number() OVER (PARTITION BY c.account_id ORDER BY c.due_at, c.id) AS of_account
        FROM candidate c
    ), chosen AS MATERIALIZED (
      SELECT p.account_id, p.id FROM placed p
        LEFT JOIN unnest(p_origins, p_origin_rooms) o (origin, room) ON o.origin = p.origin
        LEFT JOIN unnest(p_accounts, p_account_rooms) a (account_id, room) ON a.account_id = p.account_id
       WHERE p.of_origin <= coalesce(o.room, p_origin_room) AND p.of_account <= coalesce(a.room, p_account_room)
       ORDER BY p.due_at LIMIT p_limit
    ), locked AS MATERIALIZED (
      SELECT d.account_id, d.id FROM chosen c
        JOIN webhook_delivery d ON d.account_id = c.account_id AND d.id = c.id
       WHERE d.status = 'pending' AND d.due_at <= p_now
         FOR UPDATE OF d SKIP LOCKED
    )
    UPDATE webhook_delivery d
       SET due_at = p_now + p_lease_ms * interval '1 millisecond', fence = d.fence + 1, is_under_way = true
      FROM locked l WHERE d.account_id = l.account_id AND d.id = l.id
    RETURNING d.*;
  END $$;`;

/** Logs attempts and, if the claim is still valid, applies their outcomes. A repeated report of an attempt changes nothing. */
const RECORD = `
  CREATE FUNCTION webhook_record(
    p_accounts uuid[], p_ids uuid[], p_fences integer[], p_started timestamptz[], p_status_codes integer[],
    p_errors text[], p_durations integer[], p_statuses text[], p_retries integer[], p_due timestamptz[]
  ) RETURNS void LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    INSERT INTO webhook_attempt (account_id, delivery_id, fence, started_at, status_code, error, duration_ms)
      SELECT * FROM unnest(p_accounts, p_ids, p_fences, p_started, p_status_codes, p_errors, p_durations)
      ON CONFLICT DO NOTHING;
    UPDATE webhook_delivery d
       SET status = a.status, retry = a.retry, due_at = a.due, is_under_way = false
      FROM unnest(p_accounts, p_ids, p_fences, p_statuses, p_retries, p_due)
           a (account_id, id, fence, status, retry, due)
     WHERE d.account_id = a.account_id AND d.id = a.id AND d.fence = a.fence AND d.is_under_way;
  END $$;`;
