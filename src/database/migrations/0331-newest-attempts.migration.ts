import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The log of a delivery has an end: 100 attempts. A delivery may be asked for again without end, and each reading loads its log. */
export class NewestAttempts1700000000331 implements MigrationInterface {
  readonly name = 'NewestAttempts1700000000331';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(record(TRIM));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(record(''));
  }
}

/** The fence of each attempt is another, so that no more than 100 of them remain. */
const TRIM = `
    DELETE FROM webhook_attempt w USING unnest(p_accounts, p_ids, p_fences) a (account_id, id, fence)
     WHERE w.account_id = a.account_id AND w.delivery_id = a.id AND w.fence <= a.fence - 100;`;

/**
 * Logs attempts and, if the claim is still valid, applies their outcomes. p_waits are milliseconds until the next attempt. A
 * repeated report of an attempt changes nothing.
 */
const record = (trim: string): string => `
  CREATE OR REPLACE FUNCTION webhook_record(
    p_accounts uuid[], p_ids uuid[], p_fences integer[], p_started timestamptz[], p_status_codes integer[],
    p_errors text[], p_durations integer[], p_statuses text[], p_retries integer[], p_waits bigint[]
  ) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
  SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  BEGIN
    INSERT INTO webhook_attempt (account_id, delivery_id, fence, started_at, status_code, error, duration_ms)
      SELECT * FROM unnest(p_accounts, p_ids, p_fences, p_started, p_status_codes, p_errors, p_durations)
      ON CONFLICT DO NOTHING;${trim}
    UPDATE webhook_delivery d
       SET status = a.status, retry = a.retry, due_at = clock_timestamp() + a.wait * interval '1 millisecond',
           is_under_way = false
      FROM unnest(p_accounts, p_ids, p_fences, p_statuses, p_retries, p_waits)
           a (account_id, id, fence, status, retry, wait)
     WHERE d.account_id = a.account_id AND d.id = a.id AND d.fence = a.fence AND d.is_under_way;
  END $$;`;
