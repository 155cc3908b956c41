import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The counter of a key's limit no longer waits for tasks that are ending: they lock the task before the account, so waiting for
 * them under the account's lock was a deadlock. The counter also reads only the calls of its period, not all calls of the key.
 */
export class LimitsBeginBesideTasks1700000000195 implements MigrationInterface {
  readonly name = 'LimitsBeginBesideTasks1700000000195';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(FIRST_ID);
    await runner.query(ROOM);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The function before this one is gone: restore a backup'));
  }
}

/** An id that is smaller than those of all calls and tasks since a time. Ids begin with a time; clocks may differ by an hour. */
const FIRST_ID = `
  CREATE FUNCTION first_id_since(p_from timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_from > '-infinity'
      THEN (lpad(to_hex(((extract(epoch FROM p_from) - 3600) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
      ELSE '00000000-0000-0000-0000-000000000000' END;
  $$;`;

/**
 * What a key may still spend; the account is locked. `room` is null for a key without a limit; `counts_in` is the period to
 * which new calls are counted, null while their sum is still read from the calls.
 */
const ROOM = `
  CREATE OR REPLACE FUNCTION key_room(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamptz)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    terms record;
    known key_spend;
    start timestamptz;
    first uuid;
    total bigint;
    open_tasks uuid[];
    locked_tasks int;
  BEGIN
    SELECT spend_limit, spend_limit_period AS period, coalesce(spend_limit_since, '-infinity') AS since
      INTO terms FROM api_key WHERE id = p_key;
    IF terms.spend_limit IS NULL THEN
      RETURN;
    END IF;
    start := key_period_start(terms.period, clock_timestamp());
    SELECT * INTO known FROM key_spend WHERE account_id = p_account AND api_key_id = p_key;
    IF known.period = terms.period AND known.begun_at > terms.since THEN
      IF known.period_start < start THEN
        UPDATE key_spend SET period_start = start, spent = 0 WHERE account_id = p_account AND api_key_id = p_key;
        known.spent := 0;
        known.period_start := start;
      END IF;
      room := terms.spend_limit - known.spent;
      counts_in := known.period_start;
      RETURN;
    END IF;

    total := key_spent(p_account, p_key, start);
    room := terms.spend_limit - total;
    IF clock_timestamp() < terms.since + interval '3 seconds' THEN
      RETURN;
    END IF;
    first := first_id_since(start);
    SELECT coalesce(array_agg(id), '{}') INTO open_tasks FROM task
     WHERE account_id = p_account AND id >= first AND api_key_id = p_key AND created_at >= start
       AND status IN ('queued', 'processing', 'reconciliation_required');
    -- Whoever ends a task has its row and waits for the account: the counter begins with a later call then.
    SELECT count(*) INTO locked_tasks FROM (
      SELECT FROM task WHERE account_id = p_account AND id = ANY (open_tasks) FOR NO KEY UPDATE SKIP LOCKED) t;
    IF locked_tasks < cardinality(open_tasks) THEN
      RETURN;
    END IF;
    UPDATE task SET spend_period = start WHERE account_id = p_account AND id = ANY (open_tasks);
    UPDATE execution SET spend_period = start
     WHERE api_key_id = p_key AND id >= first AND account_id = p_account AND status = 'running' AND created_at >= start;
    INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
      VALUES (p_account, p_key, terms.period, start, total, clock_timestamp())
      ON CONFLICT (account_id, api_key_id) DO UPDATE
        SET period = excluded.period, period_start = excluded.period_start, spent = excluded.spent,
            begun_at = excluded.begun_at;
    counts_in := start;
  END $$;`;
