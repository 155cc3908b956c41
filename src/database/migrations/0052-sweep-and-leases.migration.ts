import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Leases of processes, and the release of what dead processes held (ADR 0002). */
export class SweepAndLeases1700000000052 implements MigrationInterface {
  readonly name = 'SweepAndLeases1700000000052';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(BEAT);
    await runner.query(SWEEP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION execution_sweep, process_beat;`);
  }
}

/**
 * Renews the lease of a process; its length is the process's own. If a beat comes more than half a lease after the last one,
 * the process counts as unbroken only from that beat on: after an outage the first process must not release the calls of
 * processes that have not reconnected yet. `p_oldest_age_ms` is the age of the oldest call that the process may still run. A
 * minute is added for the time that this statement takes.
 */
const BEAT = `
  CREATE FUNCTION process_beat(p_id uuid, p_lease_ms int, p_open_calls int, p_oldest_age_ms bigint) RETURNS void
  LANGUAGE sql AS $$
    INSERT INTO gateway_process AS known (id, lease_ms, lease_until, unbroken_since, open_calls, oldest_open_at)
      VALUES (p_id, p_lease_ms, now() + p_lease_ms * interval '1 millisecond', now(), p_open_calls,
              now() - p_oldest_age_ms * interval '1 millisecond' - interval '1 minute')
    ON CONFLICT (id) DO UPDATE
      SET lease_ms = p_lease_ms, lease_until = excluded.lease_until, open_calls = p_open_calls,
          oldest_open_at = excluded.oldest_open_at,
          unbroken_since = CASE WHEN known.lease_until - now() < known.lease_ms * interval '0.5 milliseconds'
                                THEN now() ELSE known.unbroken_since END;
  $$;`;

/**
 * Releases at most `p_limit` calls of each process whose lease is over. Only a process whose own lease has been unbroken for the
 * longer of the two leases may judge this. Accounts that another transaction has locked are left for the next time. An account
 * whose counters do not fit is left as it is and named in `damaged`; the caller passes those again to have them skipped.
 */
const SWEEP = `
  CREATE FUNCTION execution_sweep(
    p_judge uuid, p_spared uuid[], p_limit int, OUT swept int, OUT damaged uuid[]
  ) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    orphans record;
    releases int;
    freed bigint;
  BEGIN
    swept := 0;
    damaged := '{}';
    FOR orphans IN
      SELECT lost.account_id, array_agg(lost.id) AS ids
        FROM gateway_process judge
        JOIN gateway_process dead ON dead.lease_until < now()
         AND judge.unbroken_since <= now() - greatest(dead.lease_ms, judge.lease_ms) * interval '1 millisecond'
       CROSS JOIN LATERAL (
         SELECT account_id, id FROM execution
          WHERE created_at >= dead.oldest_open_at AND created_at < dead.lease_until + interval '1 minute'
            AND process_id = dead.id AND status = 'running' AND account_id <> ALL (p_spared)
          LIMIT p_limit) lost
       WHERE judge.id = p_judge AND judge.lease_until > now()
       GROUP BY lost.account_id ORDER BY lost.account_id
    LOOP
      PERFORM 1 FROM account WHERE id = orphans.account_id FOR NO KEY UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      BEGIN
        WITH released AS (
          UPDATE execution SET status = 'failed', error_code = 'process_lost', completed_at = now()
           WHERE account_id = orphans.account_id AND id = ANY (orphans.ids) AND status = 'running'
          RETURNING held)
        SELECT count(*), coalesce(sum(held), 0) INTO releases, freed FROM released;
        UPDATE account SET held = held - freed WHERE id = orphans.account_id AND freed > 0;
        swept := swept + releases;
      EXCEPTION WHEN check_violation THEN
        damaged := damaged || orphans.account_id;
      END;
    END LOOP;
    DELETE FROM gateway_process gone
     WHERE lease_until < now() - interval '1 day'
       AND NOT EXISTS (
         SELECT 1 FROM execution
          WHERE created_at >= gone.oldest_open_at AND created_at < gone.lease_until + interval '1 minute'
            AND process_id = gone.id AND status = 'running');
  END $$;`;
