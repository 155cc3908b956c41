import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The end of a task sees the id of a job that was kept after the step that ends it had begun, and has that job watched. Before,
 * whoever ended a task decided by what it had read at its claim.
 */
export class EndsSeeLateJobs1700000000342 implements MigrationInterface {
  readonly name = 'EndsSeeLateJobs1700000000342';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(end(' OR NOT has_job'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(end(''));
  }
}

/** As task_end of 0060. With p_watch_lane the work of a task that has a job stays, and the job is watched. */
const end = (unlessJob: string): string => `
  CREATE OR REPLACE FUNCTION task_end(
    p_account uuid, p_id uuid, p_fence bigint, p_from text[], p_status text, p_money text, p_charge bigint,
    p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json,
    p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_unsent boolean
  ) RETURNS boolean LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    has_job boolean;
  BEGIN
    PERFORM FROM task_work
      WHERE account_id = p_account AND task_id = p_id AND (p_fence IS NULL OR fence = p_fence)
        AND (NOT p_unsent OR (phase = 'waiting' AND submits = 0)) FOR UPDATE;
    IF NOT FOUND AND (p_unsent OR p_fence IS NOT NULL) THEN
      RETURN false;
    END IF;
    UPDATE task
       SET status = p_status, progress = greatest(progress, p_progress), memory = coalesce(p_memory, memory),
           sealed_input = CASE WHEN p_money = 'keep' THEN sealed_input END,
           result = p_result, charged = CASE WHEN p_money = 'settle' THEN p_charge END,
           error_code = p_error_code, error_message = p_error_message, content = coalesce(p_content, content),
           completed_at = p_completed
     WHERE account_id = p_account AND id = p_id AND status = ANY (p_from)
     RETURNING provider_job_id IS NOT NULL INTO has_job;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    IF p_watch_lane IS NULL${unlessJob} THEN
      DELETE FROM task_work WHERE account_id = p_account AND task_id = p_id;
    ELSE
      UPDATE task_work
         SET phase = 'watching', lane = p_watch_lane, fence = fence + 1, strikes = 0,
             due_at = now() + p_watch_ms * interval '1 millisecond'
       WHERE account_id = p_account AND task_id = p_id;
    END IF;
    IF p_money <> 'keep' AND 'done' <> ledger_resolve(p_account, p_id, CASE WHEN p_money = 'settle' THEN p_charge END) THEN
      RAISE EXCEPTION 'the hold of task % does not take %', p_id, p_money;
    END IF;
    RETURN true;
  END $$;`;
