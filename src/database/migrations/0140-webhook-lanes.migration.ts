import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A claim looks at each receiver of each account apart (a *lane*) and reads no more rows of a lane than fit its room, so that
 * the queue of a receiver that hangs does not slow the others. The database's clock decides what is due and when a lease ends,
 * because the clocks of the processes differ.
 *
 * The former functions, which have other parameters, stay for processes of the former version.
 */
export class WebhookLanes1700000000140 implements MigrationInterface {
  readonly name = 'WebhookLanes1700000000140';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX webhook_delivery_lane ON webhook_delivery (account_id, origin, due_at) WHERE due_at IS NOT NULL`);
    await runner.query(CLAIM);
    await runner.query(RECORD);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION webhook_claim (uuid, integer, integer, integer, integer, text[], integer[], integer, uuid[], integer[]);
      DROP FUNCTION webhook_record (
        uuid[], uuid[], integer[], timestamptz[], integer[], text[], integer[], text[], integer[], bigint[]);
      DROP INDEX webhook_delivery_lane`);
  }
}

// No plan may read all deliveries, however old the statistics are: rows are read by an index, in its order.
const BY_INDEX = `
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off`;
const IN_ORDER = `${BY_INDEX} SET enable_sort = off SET enable_incremental_sort = off`;

/**
 * Claims at most p_limit due deliveries, the longest due first, and leases them. Of an origin and of an account it takes
 * no more than their room: p_origins and p_accounts name those whose room is not p_origin_room or p_account_room.
 *
 * It looks at the lanes of the longest due deliveries, twice as many deliveries as it may claim. If more are due, it also steps
 * from lane to lane by the index, from p_from on and then from the start. It takes at most p_lanes steps; if there are more
 * lanes, the random p_from gives each its turn.
 *
 * A delivery is pending if it has a due_at. Each condition is written so that only the intended index can serve it, and the
 * conditions on a chosen row fit no index. A plan that was made while the table was empty is therefore right for a full one.
 */
const CLAIM = `
  CREATE FUNCTION webhook_claim(
    p_from uuid, p_lanes integer, p_lease_ms integer, p_limit integer,
    p_origin_room integer, p_origins text[], p_origin_rooms integer[],
    p_account_room integer, p_accounts uuid[], p_account_rooms integer[]
  ) RETURNS SETOF webhook_delivery LANGUAGE plpgsql ${IN_ORDER} AS $$
  DECLARE
    judged_at timestamptz := clock_timestamp();
    head_size integer := p_limit * 2;
  BEGIN
    RETURN QUERY
    WITH RECURSIVE head AS MATERIALIZED (
      SELECT account_id, origin FROM webhook_delivery
       WHERE status = 'pending' AND due_at <= judged_at ORDER BY due_at LIMIT head_size
    ), ahead AS (
      (SELECT account_id, origin FROM webhook_delivery
        WHERE due_at IS NOT NULL AND account_id >= p_from AND (SELECT count(*) FROM head) = head_size
        ORDER BY account_id, origin LIMIT 1)
      UNION ALL
      SELECT n.account_id, n.origin FROM ahead l CROSS JOIN LATERAL (
        SELECT d.account_id, d.origin FROM webhook_delivery d
         WHERE d.due_at IS NOT NULL AND (d.account_id, d.origin) > (l.account_id, l.origin)
         ORDER BY d.account_id, d.origin LIMIT 1) n
    ), behind AS (
      (SELECT account_id, origin FROM webhook_delivery
        WHERE due_at IS NOT NULL AND account_id < p_from AND (SELECT count(*) FROM head) = head_size
        ORDER BY account_id, origin LIMIT 1)
      UNION ALL
      SELECT n.account_id, n.origin FROM behind l CROSS JOIN LATERAL (
        SELECT d.account_id, d.origin FROM webhook_delivery d
         WHERE d.due_at IS NOT NULL AND d.account_id < p_from AND (d.account_id, d.origin) > (l.account_id, l.origin)
         ORDER BY d.account_id, d.origin LIMIT 1) n
    ), stepped AS (
      SELECT account_id, origin FROM ahead UNION ALL SELECT account_id, origin FROM behind LIMIT p_lanes
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
  END $$;`;

/**
 * Logs attempts and, if the claim is still valid, applies their outcomes. p_waits are milliseconds until the next attempt. A
 * repeated report of an attempt changes nothing.
 */
const RECORD = `
  CREATE FUNCTION webhook_record(
    p_accounts uuid[], p_ids uuid[], p_fences integer[], p_started timestamptz[], p_status_codes integer[],
    p_errors text[], p_durations integer[], p_statuses text[], p_retries integer[], p_waits bigint[]
  ) RETURNS void LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    INSERT INTO webhook_attempt (account_id, delivery_id, fence, started_at, status_code, error, duration_ms)
      SELECT * FROM unnest(p_accounts, p_ids, p_fences, p_started, p_status_codes, p_errors, p_durations)
      ON CONFLICT DO NOTHING;
    UPDATE webhook_delivery d
       SET status = a.status, retry = a.retry, due_at = clock_timestamp() + a.wait * interval '1 millisecond',
           is_under_way = false
      FROM unnest(p_accounts, p_ids, p_fences, p_statuses, p_retries, p_waits)
           a (account_id, id, fence, status, retry, wait)
     WHERE d.account_id = a.account_id AND d.id = a.id AND d.fence = a.fence AND d.is_under_way;
  END $$;`;
