import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The report of a step may tell a word for the state of the job that the adapter does not know. */
export class UnknownStates1700000000451 implements MigrationInterface {
  readonly name = 'UnknownStates1700000000451';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(advance(NEW_WORD));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(advance(''));
  }
}

const NEW_WORD = `,
             unknown_state = CASE WHEN m.facts ->> 'unknown_state' IS NULL THEN t.unknown_state
                                  ELSE nullif(m.facts ->> 'unknown_state', '') END`;

/** As in 0060. An empty word takes the one before away. */
const advance = (newWord: string): string => `
  CREATE OR REPLACE FUNCTION task_advance(
    p_accounts uuid[], p_ids uuid[], p_fences bigint[], p_lanes text[], p_phases text[], p_delays_ms bigint[],
    p_strikes smallint[], p_facts json[]
  ) RETURNS SETOF uuid LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  BEGIN
    RETURN QUERY
    WITH moved AS (
      UPDATE task_work w
         SET due_at = now() + a.delay_ms * interval '1 millisecond',
             lane = coalesce(a.lane, w.lane), phase = coalesce(a.phase, w.phase), strikes = coalesce(a.strikes, w.strikes),
             submits = w.submits + CASE WHEN a.phase = 'submitting' AND w.phase <> 'submitting' THEN 1 ELSE 0 END,
             put_offs = CASE WHEN a.facts ->> 'put_off' = 'true' THEN w.put_offs + 1
                             WHEN a.phase = 'submitting' OR a.phase IS NULL THEN w.put_offs ELSE 0 END,
             put_off_at = CASE WHEN a.facts ->> 'put_off' = 'true' THEN coalesce(w.put_off_at, now())
                               WHEN a.phase = 'submitting' OR a.phase IS NULL THEN w.put_off_at END
        FROM unnest(p_accounts, p_ids, p_fences, p_lanes, p_phases, p_delays_ms, p_strikes, p_facts)
             a (account_id, id, fence, lane, phase, delay_ms, strikes, facts)
       WHERE w.account_id = a.account_id AND w.task_id = a.id AND w.fence = a.fence
      RETURNING w.account_id, w.task_id, a.facts
    ), told AS (
      UPDATE task t
         SET status = CASE WHEN t.completed_at IS NULL THEN coalesce(m.facts ->> 'status', t.status) ELSE t.status END,
             progress = greatest(t.progress, (m.facts ->> 'progress')::smallint),
             memory = coalesce(m.facts -> 'memory', t.memory),
             provider_job_id = coalesce(m.facts ->> 'job_id', t.provider_job_id),
             provider_base_url = coalesce(m.facts ->> 'base_url', t.provider_base_url),
             found = coalesce(m.facts -> 'found', t.found),
             evidence_status = coalesce(m.facts ->> 'evidence', t.evidence_status),
             evidence_at = CASE WHEN m.facts ->> 'evidence' IS NULL THEN t.evidence_at ELSE now() END${newWord}
        FROM moved m
       WHERE m.facts IS NOT NULL AND t.account_id = m.account_id AND t.id = m.task_id
    )
    SELECT m.task_id FROM moved m;
  END $$;`;
