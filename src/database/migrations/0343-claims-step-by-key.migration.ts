import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A claim finds the accounts behind a long backlog by the primary key. The index for it (0340) made every claim slower by half,
 * because its entries lie apart, while few claims read it.
 */
export class ClaimsStepByKey1700000000343 implements MigrationInterface {
  readonly name = 'ClaimsStepByKey1700000000343';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CLAIM);
    await runner.query('DROP INDEX task_work_of_account');
  }

  /** The function stays: processes of the former version call it in the same way. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX task_work_of_account ON task_work (lane, account_id, due_at)');
  }
}

/**
 * As in 0340, but if much of the longest due work is left aside, the claim steps by the primary key through at most p_accounts
 * accounts with work, and takes due work of each, of which it reads the 1,000 oldest tasks.
 */
const CLAIM = `
  CREATE OR REPLACE FUNCTION task_claim_sharing(
    p_steps text[], p_step_rooms integer[], p_lanes text[], p_rooms integer[],
    p_held_lanes text[], p_held_accounts uuid[], p_held integer[], p_share integer, p_accounts integer,
    p_mine uuid[], p_lease_ms integer
  ) RETURNS TABLE (claimed task, phase text, fence bigint, strikes smallint, submits integer, put_offs integer,
                   put_off_ms double precision)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET jit = off
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
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
        1);
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
  END $$;`;
