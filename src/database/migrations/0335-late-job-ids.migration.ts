import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The id of a job that a provider accepted is kept even if it is reported after the lease of the submission. Before, such a
 * report changed nothing, so nobody could ask the provider about the job.
 */
export class LateJobIds1700000000335 implements MigrationInterface {
  readonly name = 'LateJobIds1700000000335';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(KEEP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION task_keep_job');
  }
}

/**
 * Names the job of a task that has none, and has it watched if the task waits for an operator. Status and money stay. False,
 * and nothing changes, if the task has a job or its outcome is known.
 */
const KEEP = `
  CREATE FUNCTION task_keep_job(p_account uuid, p_id uuid, p_job_id text, p_watch_lane text, p_watch_ms bigint)
  RETURNS boolean LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    now_is text;
  BEGIN
    UPDATE task SET provider_job_id = p_job_id
     WHERE account_id = p_account AND id = p_id AND provider_job_id IS NULL
       AND status IN ('queued', 'processing', 'reconciliation_required')
     RETURNING status INTO now_is;
    IF now_is = 'reconciliation_required' THEN
      INSERT INTO task_work (account_id, task_id, lane, phase, due_at)
        VALUES (p_account, p_id, p_watch_lane, 'watching', now() + p_watch_ms * interval '1 millisecond')
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN now_is IS NOT NULL;
  END $$;`;
