import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The first count of a key's limit starts from the sums of usage and reads only the calls and tasks that are not in them yet:
 * a limit set on a key with millions of calls takes milliseconds under the account's lock, and what retention has dropped
 * still counts. And the signatures of task_submit before 0190, so that processes of the version before can still submit
 * tasks beside a migrated database.
 */
export class LimitsFromUsage1700000000206 implements MigrationInterface {
  readonly name = 'LimitsFromUsage1700000000206';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UNFOLDED);
    await runner.query(SPENT);
    await runner.query(ROOM);
    await runner.query(SUBMIT_BEFORE);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The functions before these are gone: restore a backup'));
  }
}

// No plan may come to read all calls, however empty the tables were when it was made.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** The calls and tasks of a key that usage_day does not count yet: what each costs or holds, and whether it is still open. */
const UNFOLDED = `
  CREATE FUNCTION key_unfolded(p_account uuid, p_key uuid)
  RETURNS TABLE (is_task boolean, id uuid, created_at timestamptz, amount bigint, is_open boolean)
  LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  #variable_conflict use_column
  DECLARE
    folded timestamptz := (SELECT folded_until FROM usage_state);
    first uuid := first_id_since(folded);
  BEGIN
    RETURN QUERY
    SELECT false, e.id, e.created_at,
           CASE e.status WHEN 'running' THEN e.held WHEN 'succeeded' THEN e.charged ELSE 0 END, e.status = 'running'
      FROM (SELECT * FROM execution x
             WHERE x.api_key_id = p_key AND x.id >= first AND x.account_id = p_account AND x.created_at > folded
            UNION ALL
            SELECT x.* FROM usage_pending p
             CROSS JOIN LATERAL (SELECT * FROM execution y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
             WHERE p.account_id = p_account AND x.api_key_id = p_key) e
    UNION ALL
    SELECT true, t.id, t.created_at,
           CASE WHEN t.status = 'succeeded' THEN t.charged WHEN t.status IN ('failed', 'expired') THEN 0 ELSE t.reserved END,
           t.status IN ('queued', 'processing', 'reconciliation_required')
      FROM (SELECT * FROM task x
             WHERE x.account_id = p_account AND x.id >= first AND x.api_key_id = p_key AND x.created_at > folded
            UNION ALL
            SELECT x.* FROM usage_pending p
             CROSS JOIN LATERAL (SELECT * FROM task y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
             WHERE p.account_id = p_account AND x.api_key_id = p_key) t;
  END $$;`;

/**
 * What a key has spent since the start of a period, and holds. Sums of usage count on the day a call ended, less what was
 * given back; what is not in them counts by its begin.
 */
const SPENT = `
  CREATE OR REPLACE FUNCTION key_spent(p_account uuid, p_key uuid, p_from timestamptz) RETURNS bigint
  LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  BEGIN
    RETURN (
      SELECT coalesce(sum(charged), 0) FROM usage_day
       WHERE account_id = p_account AND api_key_id = p_key
         AND day >= CASE WHEN p_from > '-infinity' THEN (p_from AT TIME ZONE 'UTC')::date ELSE '-infinity' END)
    + (SELECT coalesce(sum(amount), 0) FROM key_unfolded(p_account, p_key) WHERE created_at >= p_from);
  END $$;`;

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
    total bigint;
    open_calls uuid[];
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
    SELECT coalesce(array_agg(id) FILTER (WHERE is_task), '{}'), coalesce(array_agg(id) FILTER (WHERE NOT is_task), '{}')
      INTO open_tasks, open_calls FROM key_unfolded(p_account, p_key) WHERE is_open AND created_at >= start;
    -- Whoever ends a task has its row and waits for the account: the counter begins with a later call then.
    SELECT count(*) INTO locked_tasks FROM (
      SELECT FROM task WHERE account_id = p_account AND id = ANY (open_tasks) FOR NO KEY UPDATE SKIP LOCKED) t;
    IF locked_tasks < cardinality(open_tasks) THEN
      RETURN;
    END IF;
    UPDATE task SET spend_period = start WHERE account_id = p_account AND id = ANY (open_tasks);
    UPDATE execution SET spend_period = start WHERE account_id = p_account AND id = ANY (open_calls) AND status = 'running';
    INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
      VALUES (p_account, p_key, terms.period, start, total, clock_timestamp())
      ON CONFLICT (account_id, api_key_id) DO UPDATE
        SET period = excluded.period, period_start = excluded.period_start, spent = excluded.spent,
            begun_at = excluded.begun_at;
    counts_in := start;
  END $$;`;

const BEFORE = (name: string) => `
  CREATE FUNCTION ${name}(
    p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text,
    p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text,
    p_amount bigint, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid,
    OUT outcome text, OUT created timestamptz
  ) LANGUAGE sql AS $$
    SELECT t.outcome, t.created FROM ${name}(
      p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider, p_base_url,
      p_on_sandbox, p_upstream_model, p_lane, p_amount, NULL::text, NULL::jsonb, NULL::jsonb, p_webhook_url,
      p_webhook_secret, p_endpoint, p_key, p_token) t;
  $$;`;

/** As gateways before 0190 call them: without what a price is made of. */
const SUBMIT_BEFORE = `${BEFORE('task_submit')}${BEFORE('task_submit_capped')}`;
