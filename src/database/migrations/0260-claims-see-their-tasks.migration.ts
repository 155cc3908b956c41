import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A claim returns the tasks that it has claimed. Before, its caller joined them with a snapshot older than the claim's: a task
 * that was submitted in between was claimed and not returned, so nobody worked on it until its lease ended.
 */
export class ClaimsSeeTheirTasks1700000000260 implements MigrationInterface {
  readonly name = 'ClaimsSeeTheirTasks1700000000260';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TASK_CLAIM_WHOLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION task_claim_whole');
  }
}

/** As task_claim of 0060, with the row of each task, read by the very statement that claims it. */
const TASK_CLAIM_WHOLE = `
  CREATE FUNCTION task_claim_whole(
    p_steps text[], p_step_rooms integer[], p_lanes text[], p_rooms integer[], p_mine uuid[], p_lease_ms integer
  ) RETURNS TABLE (claimed task, phase text, fence bigint, strikes smallint, submits integer, put_offs integer,
                   put_off_ms double precision)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  #variable_conflict use_column
  DECLARE
    this_lane text := (SELECT w.lane FROM task_work w ORDER BY w.lane LIMIT 1);
    room integer;
  BEGIN
    WHILE this_lane IS NOT NULL LOOP
      room := coalesce(
        (SELECT r.room FROM unnest(p_lanes, p_rooms) r (lane, room) WHERE r.lane = this_lane),
        (SELECT r.room FROM unnest(p_steps, p_step_rooms) r (step, room) WHERE r.step = split_part(this_lane, '/', 1)),
        1);
      IF room > 0 THEN
        RETURN QUERY
        WITH due AS MATERIALIZED (
          SELECT w.account_id, w.task_id FROM task_work w
           WHERE w.lane = this_lane AND w.due_at <= now() AND w.task_id <> ALL (p_mine)
           ORDER BY w.due_at LIMIT room FOR UPDATE SKIP LOCKED
        ), held AS (
          UPDATE task_work w
             SET fence = w.fence + 1, due_at = now() + p_lease_ms * interval '1 millisecond'
            FROM due d WHERE w.account_id = d.account_id AND w.task_id = d.task_id
          RETURNING w.account_id, w.task_id, w.phase, w.fence, w.strikes, w.submits, w.put_offs,
                    (extract(epoch FROM now() - w.put_off_at) * 1000)::double precision AS put_off_ms
        )
        SELECT t.whole, h.phase, h.fence, h.strikes, h.submits, h.put_offs, h.put_off_ms FROM held h
         CROSS JOIN LATERAL (
           SELECT k AS whole FROM task k WHERE k.account_id = h.account_id AND k.id = h.task_id OFFSET 0
         ) t;
      END IF;
      this_lane := (SELECT w.lane FROM task_work w WHERE w.lane > this_lane ORDER BY w.lane LIMIT 1);
    END LOOP;
  END $$;`;
