import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The functions that drop old records (docs/adr/0016): ended calls, and finished tasks with their holds, deliveries and
 * idempotency keys. Ledger entries stay. A record is dropped only after an audit without a finding has read it and usage has
 * its sums. The sum of its entries is kept per account, so that a full audit still accounts for every entry.
 */
export class DropRecords1700000000205 implements MigrationInterface {
  readonly name = 'DropRecords1700000000205';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(NOTE);
    await runner.query(DROP_CALLS);
    await runner.query(DROP_TASKS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION record_drop_tasks, record_drop_calls, record_note_dropped, record_proven, record_is_proven;
      DROP INDEX idempotency_key_of_task;
      DROP TABLE dropped_record, record_retention;`);
  }
}

const NO_ID = `'00000000-0000-0000-0000-000000000000'::uuid`;

// No plan may read all records, even if it was made while the tables were empty.
const AS_OWNER = `
  SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** `record_retention` says how far the pass over all old records has come. `dropped_record` has the sums of dropped records. */
const TABLES = `
  CREATE TABLE record_retention (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    calls_after uuid NOT NULL DEFAULT ${NO_ID},
    tasks_after uuid NOT NULL DEFAULT ${NO_ID}
  );
  INSERT INTO record_retention DEFAULT VALUES;
  CREATE TABLE dropped_record (
    account_id uuid PRIMARY KEY,
    until_id uuid NOT NULL,
    records bigint NOT NULL,
    charged numeric NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX idempotency_key_of_task ON idempotency_key (task_id) WHERE task_id IS NOT NULL;`;

/**
 * record_proven: calls and tasks that began before these times are in the sums of usage and were read by an audit without a
 * finding; null if the last audit found something. record_is_proven: the same for the entries of one call or task.
 */
const NOTE = `
  CREATE FUNCTION record_proven(OUT calls timestamptz, OUT tasks timestamptz) LANGUAGE sql STABLE AS $$
    SELECT least(a.executions_from, u.folded_until), least(a.holds_from, u.folded_until)
      FROM audit_state a, usage_state u WHERE a.ok;
  $$;

  CREATE FUNCTION record_is_proven(p_account uuid, p_id uuid, p_before timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM usage_pending WHERE account_id = p_account AND id = p_id)
       AND coalesce(bool_and(e.created_at < p_before
             AND e.position <= coalesce((SELECT position FROM audit_checkpoint WHERE account_id = p_account), 0)), true)
      FROM (SELECT created_at, position FROM ledger_entry
             WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge'
            UNION ALL
            SELECT created_at, position FROM ledger_entry
             WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL) e;
  $$;

  CREATE FUNCTION record_note_dropped(p_accounts uuid[], p_ids uuid[]) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    INSERT INTO dropped_record AS d (account_id, until_id, records, charged)
      SELECT gone.account, (array_agg(gone.id ORDER BY gone.id DESC))[1], count(*), sum(paid.charge + paid.given_back)
        FROM unnest(p_accounts, p_ids) gone (account, id)
       CROSS JOIN LATERAL (
         SELECT coalesce((SELECT -amount FROM ledger_entry
                           WHERE account_id = gone.account AND hold_id = gone.id AND kind = 'charge'), 0) AS charge,
                coalesce((SELECT -amount FROM ledger_entry WHERE account_id = gone.account AND hold_id = gone.id
                             AND kind = 'correction' AND hold_id IS NOT NULL), 0) AS given_back) paid
       GROUP BY gone.account ORDER BY gone.account
      ON CONFLICT (account_id) DO UPDATE
        SET until_id = greatest(d.until_id, excluded.until_id), records = d.records + excluded.records,
            charged = d.charged + excluded.charged;
  $$;
  REVOKE EXECUTE ON FUNCTION record_note_dropped FROM PUBLIC;`;

/** The first lines of both functions: at least 30 days, one process at a time, from where the last batch ended. */
const BEGIN_BATCH = `
    seen := 0;
    dropped := 0;
    IF p_days < 30 THEN
      RAISE EXCEPTION 'records are kept for 30 days at least' USING ERRCODE = 'check_violation';
    END IF;
    SELECT * INTO place FROM record_retention FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN;
    END IF;`;

/**
 * Looks at the next p_limit calls that began more than p_days ago, oldest first, and drops those that ended as long ago and
 * are proven. seen < p_limit: the pass is over, and the next one begins with the oldest again. One process at a time.
 */
const DROP_CALLS = `
  CREATE FUNCTION record_drop_calls(p_days int, p_limit int, OUT seen int, OUT dropped int)
  LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    place record_retention;
    cutoff timestamptz := now() - p_days * interval '1 day';
    proven timestamptz := (SELECT calls FROM record_proven());
    accounts uuid[];
    ids uuid[];
  BEGIN${BEGIN_BATCH}
    SELECT array_agg(DISTINCT old.account_id), array_agg(old.id ORDER BY old.id) INTO accounts, ids
      FROM (SELECT account_id, id FROM execution
             WHERE id > place.calls_after AND id < first_id_since(cutoff) ORDER BY id LIMIT p_limit) old;
    seen := coalesce(cardinality(ids), 0);
    UPDATE record_retention SET calls_after = CASE WHEN seen < p_limit THEN ${NO_ID} ELSE ids[seen] END;
    -- Whoever refunds or cancels a call has its account: from here on nobody does.
    PERFORM FROM account WHERE id = ANY (accounts) ORDER BY id FOR NO KEY UPDATE;
    WITH gone AS (
      DELETE FROM execution e
       WHERE e.id = ANY (ids) AND e.status <> 'running' AND e.completed_at < cutoff AND e.created_at < proven
         AND record_is_proven(e.account_id, e.id, proven)
      RETURNING e.account_id, e.id)
    SELECT array_agg(gone.account_id), array_agg(gone.id) INTO accounts, ids FROM gone;
    dropped := coalesce(cardinality(ids), 0);
    IF dropped > 0 THEN
      PERFORM record_note_dropped(accounts, ids);
    END IF;
  END $$;`;

/** The same for tasks; locks are taken in the order key, task, account. A task with work or a delivery to come stays. */
const DROP_TASKS = `
  CREATE FUNCTION record_drop_tasks(p_days int, p_limit int, OUT seen int, OUT dropped int)
  LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    place record_retention;
    cutoff timestamptz := now() - p_days * interval '1 day';
    proven timestamptz := (SELECT tasks FROM record_proven());
    accounts uuid[];
    ids uuid[];
  BEGIN${BEGIN_BATCH}
    SELECT array_agg(old.id ORDER BY old.id) INTO ids
      FROM (SELECT id FROM task
             WHERE id > place.tasks_after AND id < first_id_since(cutoff) ORDER BY id LIMIT p_limit) old;
    seen := coalesce(cardinality(ids), 0);
    UPDATE record_retention SET tasks_after = CASE WHEN seen < p_limit THEN ${NO_ID} ELSE ids[seen] END;
    PERFORM FROM idempotency_key WHERE task_id = ANY (ids) ORDER BY account_id, endpoint, key FOR UPDATE;
    SELECT array_agg(DISTINCT ended.account_id), array_agg(ended.id) INTO accounts, ids
      FROM (SELECT t.account_id, t.id FROM task t
             WHERE t.id = ANY (ids) AND t.status IN ('succeeded', 'failed', 'expired') AND t.completed_at < cutoff
               AND t.created_at < proven
               FOR UPDATE SKIP LOCKED) ended;
    PERFORM FROM account WHERE id = ANY (accounts) ORDER BY id FOR NO KEY UPDATE;
    SELECT array_agg(t.account_id), array_agg(t.id) INTO accounts, ids
      FROM task t JOIN hold h ON h.account_id = t.account_id AND h.id = t.id
     WHERE t.id = ANY (ids) AND h.state <> 'open' AND h.created_at < proven
       AND record_is_proven(t.account_id, t.id, proven)
       AND NOT EXISTS (SELECT FROM task_work w WHERE w.account_id = t.account_id AND w.task_id = t.id)
       AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.owner_id = t.id AND d.status = 'pending');
    dropped := coalesce(cardinality(ids), 0);
    IF dropped > 0 THEN
      DELETE FROM webhook_attempt a USING webhook_delivery d
       WHERE d.owner_id = ANY (ids) AND a.account_id = d.account_id AND a.delivery_id = d.id;
      DELETE FROM webhook_delivery WHERE owner_id = ANY (ids);
      DELETE FROM idempotency_key WHERE task_id = ANY (ids);
      DELETE FROM hold h USING unnest(accounts, ids) gone (account_id, id)
       WHERE h.account_id = gone.account_id AND h.id = gone.id;
      DELETE FROM task t USING unnest(accounts, ids) gone (account_id, id)
       WHERE t.account_id = gone.account_id AND t.id = gone.id;
      PERFORM record_note_dropped(accounts, ids);
    END IF;
  END $$;`;
