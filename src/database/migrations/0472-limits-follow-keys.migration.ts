import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a rotated key has spent counts for its successor whatever becomes of the successor's limit: another period, another
 * amount, none and one again, another rotation. Before, the sum was in the successor's counter only, and a new period counted
 * anew, without it. What an operator gives back is free again in the limits of the key and of its successors.
 */
export class LimitsFollowKeys1700000000472 implements MigrationInterface {
  readonly name = 'LimitsFollowKeys1700000000472';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    await runner.query(UNFOLDED);
    await runner.query(SPENT);
    await runner.query(PASS_ON);
    await runner.query(NOTE);
    await runner.query(TRIGGERS);
    await runner.query(LATE);
    await runner.query(GIVEN_BACK);
    await runner.query(FILL_INHERITED);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The functions before these are gone: restore a backup'));
  }
}

// No plan may read all calls, even if it was made while the tables were empty.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/**
 * What a key took over from `from_key_id` when that was rotated (`at`): spent and held in the day, the month and the whole life
 * that it belonged to. `key_spend_carried` has the calls and tasks that were open then.
 */
const TABLE = `
  CREATE TABLE key_inherited (
    account_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    from_key_id uuid NOT NULL,
    at timestamptz NOT NULL,
    day_start timestamptz NOT NULL,
    day_spent bigint NOT NULL,
    month_start timestamptz NOT NULL,
    month_spent bigint NOT NULL,
    total_spent bigint NOT NULL,
    PRIMARY KEY (account_id, api_key_id)
  ) WITH (fillfactor = 50);
  CREATE INDEX key_inherited_of_key ON key_inherited (account_id, from_key_id);`;

/** As before (0206), less what was refunded. */
const UNFOLDED = `
  CREATE OR REPLACE FUNCTION key_unfolded(p_account uuid, p_key uuid)
  RETURNS TABLE (is_task boolean, id uuid, created_at timestamptz, amount bigint, is_open boolean)
  LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  #variable_conflict use_column
  DECLARE
    folded timestamptz := (SELECT folded_until FROM usage_state);
    first uuid := first_id_since(folded);
  BEGIN
    RETURN QUERY
    SELECT false, e.id, e.created_at,
           CASE e.status WHEN 'running' THEN e.held WHEN 'succeeded' THEN e.charged - coalesce(e.refunded, 0) ELSE 0 END,
           e.status = 'running'
      FROM (SELECT * FROM execution x
             WHERE x.api_key_id = p_key AND x.id >= first AND x.account_id = p_account AND x.created_at > folded
            UNION ALL
            SELECT x.* FROM usage_pending p
             CROSS JOIN LATERAL (SELECT * FROM execution y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
             WHERE p.account_id = p_account AND x.api_key_id = p_key) e
    UNION ALL
    SELECT true, t.id, t.created_at,
           CASE WHEN t.status = 'succeeded' THEN t.charged - coalesce(t.refunded, 0)
                WHEN t.status IN ('failed', 'expired') THEN 0 ELSE t.reserved END,
           t.status IN ('queued', 'processing', 'reconciliation_required')
      FROM (SELECT * FROM task x
             WHERE x.account_id = p_account AND x.id >= first AND x.api_key_id = p_key AND x.created_at > folded
            UNION ALL
            SELECT x.* FROM usage_pending p
             CROSS JOIN LATERAL (SELECT * FROM task y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
             WHERE p.account_id = p_account AND x.api_key_id = p_key) t;
  END $$;`;

/**
 * What a key has spent since the start of a period, and holds, and what it took over of that period. Sums of usage count on the
 * day a call ended, less what was given back. Calls that are not in the sums count on the day they began.
 */
const SPENT = `
  CREATE OR REPLACE FUNCTION key_spent(p_account uuid, p_key uuid, p_from timestamptz) RETURNS bigint
  LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  BEGIN
    RETURN (
      SELECT coalesce(sum(charged + given_back), 0) FROM usage_day
       WHERE account_id = p_account AND api_key_id = p_key
         AND day >= CASE WHEN p_from > '-infinity' THEN (p_from AT TIME ZONE 'UTC')::date ELSE '-infinity' END)
    + (SELECT coalesce(sum(amount), 0) FROM key_unfolded(p_account, p_key) WHERE created_at >= p_from)
    + coalesce((SELECT CASE p_from WHEN '-infinity' THEN total_spent WHEN month_start THEN month_spent
                                   WHEN day_start THEN day_spent END
                  FROM key_inherited WHERE account_id = p_account AND api_key_id = p_key), 0);
  END $$;`;

/**
 * Has the successor take over what the key has spent. Locks are taken in the order key, account. Where the key's counter has
 * begun, it is exact; the other periods are summed up. A task that is just ending stays counted as it is held. Calls of a key
 * without a limit get a period that is none, so that their ends are noted for the successor.
 */
const PASS_ON = `
  CREATE OR REPLACE FUNCTION key_pass_on(p_account uuid, p_key uuid, p_successor uuid) RETURNS void
  LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    terms record;
    known key_spend;
    begun timestamptz;
    day timestamptz;
    month timestamptz;
    open_calls uuid[];
    open_tasks uuid[];
  BEGIN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    begun := clock_timestamp();
    day := key_period_start('day', begun);
    month := key_period_start('month', begun);
    SELECT spend_limit, spend_limit_period AS period INTO terms FROM api_key WHERE id = p_key;
    SELECT s.* INTO known FROM key_room(p_account, p_key) r, key_spend s
     WHERE r.counts_in IS NOT NULL AND s.account_id = p_account AND s.api_key_id = p_key;
    INSERT INTO key_inherited VALUES (
      p_account, p_successor, p_key, begun,
      day, CASE WHEN known.period = 'day' AND known.period_start = day THEN known.spent ELSE key_spent(p_account, p_key, day) END,
      month, CASE WHEN known.period = 'month' AND known.period_start = month THEN known.spent
                  ELSE key_spent(p_account, p_key, month) END,
      CASE WHEN known.period = 'total' THEN known.spent ELSE key_spent(p_account, p_key, '-infinity') END);
    IF terms.spend_limit IS NOT NULL THEN
      INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
        SELECT p_account, p_successor, terms.period,
               CASE terms.period WHEN 'day' THEN day_start WHEN 'month' THEN month_start ELSE '-infinity' END,
               CASE terms.period WHEN 'day' THEN day_spent WHEN 'month' THEN month_spent ELSE total_spent END, begun
          FROM key_inherited WHERE account_id = p_account AND api_key_id = p_successor;
    END IF;
    DELETE FROM key_spend_carried c
     WHERE c.account_id = p_account
       AND NOT EXISTS (SELECT FROM execution e WHERE e.account_id = c.account_id AND e.id = c.id AND e.status = 'running')
       AND NOT EXISTS (SELECT FROM task t WHERE t.account_id = c.account_id AND t.id = c.id
                          AND t.status IN ('queued', 'processing', 'reconciliation_required'));
    SELECT coalesce(array_agg(id) FILTER (WHERE is_task), '{}'), coalesce(array_agg(id) FILTER (WHERE NOT is_task), '{}')
      INTO open_tasks, open_calls FROM key_unfolded(p_account, p_key) WHERE is_open;
    INSERT INTO key_spend_carried (account_id, id, api_key_id, begun_at)
      SELECT p_account, id, p_successor, begun FROM unnest(open_calls || open_tasks) id
      UNION
      SELECT account_id, id, p_successor, begun FROM key_spend_carried WHERE account_id = p_account AND api_key_id = p_key;
    UPDATE execution SET spend_period = begun
     WHERE account_id = p_account AND id = ANY (open_calls) AND status = 'running' AND spend_period IS NULL;
    UPDATE task SET spend_period = begun
     WHERE account_id = p_account AND spend_period IS NULL AND id IN (
       SELECT id FROM task WHERE account_id = p_account AND id = ANY (open_tasks) FOR NO KEY UPDATE SKIP LOCKED);
  END $$;`;

/**
 * key_note_carried: the end of a call or task that was open when its key was rotated changes what the successors took over by
 * p_amount. key_give_back: frees a part of a charge in the limits of its key and of the keys that took it over: those made after
 * it was charged, or while the call was open. Where a period began between the call and its charge, nothing is freed in it.
 */
const NOTE = `
  CREATE FUNCTION key_note_heirs(p_account uuid, p_heirs uuid[], p_created timestamptz, p_amount bigint) RETURNS void
  LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    UPDATE key_inherited
       SET day_spent = day_spent + CASE WHEN p_created >= day_start THEN p_amount ELSE 0 END,
           month_spent = month_spent + CASE WHEN p_created >= month_start THEN p_amount ELSE 0 END,
           total_spent = total_spent + p_amount
     WHERE account_id = p_account AND api_key_id = ANY (p_heirs);
    UPDATE key_spend SET spent = spent + p_amount
     WHERE account_id = p_account AND api_key_id = ANY (p_heirs) AND p_created >= period_start;
  END $$;

  CREATE FUNCTION key_note_carried(p_account uuid, p_id uuid, p_created timestamptz, p_amount bigint) RETURNS void
  LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    heirs uuid[];
  BEGIN
    IF p_amount <> 0 THEN
      PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
      SELECT array_agg(api_key_id) INTO heirs FROM key_spend_carried WHERE account_id = p_account AND id = p_id;
      IF heirs IS NOT NULL THEN
        PERFORM key_note_heirs(p_account, heirs, p_created, p_amount);
      END IF;
    END IF;
  END $$;

  CREATE FUNCTION key_give_back(
    p_account uuid, p_key uuid, p_id uuid, p_created timestamptz, p_charged timestamptz, p_amount bigint
  ) RETURNS void LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    heirs uuid[];
  BEGIN
    IF p_amount <> 0 THEN
      PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
      WITH RECURSIVE heir AS (
        SELECT i.api_key_id FROM key_inherited i
         WHERE i.account_id = p_account AND i.from_key_id = p_key
           AND (i.at > p_charged OR EXISTS (
             SELECT FROM key_spend_carried c
              WHERE c.account_id = p_account AND c.id = p_id AND c.api_key_id = i.api_key_id))
        UNION
        SELECT i.api_key_id FROM heir h JOIN key_inherited i ON i.account_id = p_account AND i.from_key_id = h.api_key_id
      )
      SELECT array_agg(api_key_id) INTO heirs FROM heir;
      UPDATE key_spend SET spent = spent - p_amount
       WHERE account_id = p_account AND api_key_id = p_key AND p_created >= period_start;
      IF heirs IS NOT NULL THEN
        PERFORM key_note_heirs(p_account, heirs, p_created, -p_amount);
      END IF;
    END IF;
  END $$;`;

/** What a row of a call or task counts. */
const OF_CALL = (row: string) =>
  `CASE ${row}.status WHEN 'running' THEN ${row}.held
                             WHEN 'succeeded' THEN ${row}.charged - coalesce(${row}.refunded, 0) ELSE 0 END`;
const OF_TASK = (row: string) =>
  `CASE WHEN ${row}.status = 'succeeded' THEN ${row}.charged - coalesce(${row}.refunded, 0)
                             WHEN ${row}.status IN ('failed', 'expired') THEN 0 ELSE ${row}.reserved END`;

const noteSpend = (table: 'execution' | 'task', amountOf: (row: string) => string) => `
  CREATE OR REPLACE FUNCTION ${table}_note_spend() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    counts bigint := ${amountOf('NEW')};
    counted bigint := ${amountOf('OLD')};
  BEGIN
    IF OLD.status = 'succeeded' THEN
      PERFORM key_give_back(NEW.account_id, NEW.api_key_id, NEW.id, NEW.created_at, NEW.completed_at, counted - counts);
    ELSE
      PERFORM key_note_carried(NEW.account_id, NEW.id, NEW.created_at, counts - counted);
      PERFORM key_note_spend(NEW.account_id, NEW.api_key_id, NEW.spend_period,
        counts - CASE WHEN OLD.spend_period = NEW.spend_period THEN counted ELSE 0 END);
    END IF;
    RETURN NULL;
  END $$;
  DROP TRIGGER ${table}_spends ON ${table};
  CREATE TRIGGER ${table}_spends AFTER UPDATE ON ${table}
    FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL OR OLD.status = 'succeeded') EXECUTE FUNCTION ${table}_note_spend();`;

const TRIGGERS = `${noteSpend('execution', OF_CALL)}${noteSpend('task', OF_TASK)}
  DROP FUNCTION key_note_spend(uuid, uuid, uuid, timestamptz, bigint);`;

/** As before (0362), but what frees the limits is what was left of the charge, also in the limits of the key's successors. */
const LATE = `
  CREATE OR REPLACE FUNCTION record_note_late_reversal(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text
  ) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp ${BY_KEY} AS $$
  DECLARE
    charged timestamptz;
    rest bigint;
  BEGIN
    SELECT created_at INTO charged FROM ledger_entry
     WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge';
    SELECT amount INTO rest FROM ledger_entry
     WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL
     ORDER BY position DESC LIMIT 1;
    IF charged IS NULL OR rest IS NULL OR EXISTS (SELECT FROM execution WHERE account_id = p_account AND id = p_id) THEN
      RETURN;
    END IF;
    INSERT INTO late_reversal (account_id, id, api_key_id, model, endpoint, charged_at)
      VALUES (p_account, p_id, p_api_key, p_model, p_endpoint, charged) ON CONFLICT DO NOTHING;
    IF FOUND THEN
      PERFORM key_give_back(p_account, p_api_key, p_id,
        coalesce((SELECT created_at FROM task WHERE account_id = p_account AND id = p_id), charged), charged, rest);
    END IF;
  END $$;`;

/** As before (0350), but a refund leaves the day on which the call was charged, as a reversal does. */
const GIVEN_BACK = `
  CREATE OR REPLACE VIEW usage_given_back AS
    SELECT l.account_id, l.created_at, coalesce(c.api_key_id, r.api_key_id, '00000000-0000-0000-0000-000000000000') AS api_key_id,
           coalesce(c.model, r.model, '') AS model, coalesce(c.endpoint, r.endpoint, '') AS endpoint,
           -l.amount AS charged, coalesce(c.ended_at, r.charged_at) AS reversed_at
      FROM ledger_entry l
      LEFT JOIN LATERAL (
        SELECT * FROM usage_call u WHERE u.account_id = l.account_id AND u.id = l.hold_id OFFSET 0) c ON true
      LEFT JOIN late_reversal r ON r.account_id = l.account_id AND r.id = l.hold_id
     WHERE l.kind = 'correction' AND l.hold_id IS NOT NULL;`;

/** What a counter has beyond its key's own calls came from the key that was rotated. Of which days it was, nobody knows. */
export const FILL_INHERITED = `
  INSERT INTO key_inherited
    SELECT s.account_id, s.api_key_id, old.id, made.created_at, key_period_start('day', now()), more.amount,
           key_period_start('month', now()), more.amount, more.amount
      FROM api_key old
      JOIN api_key made ON made.id = old.successor_id
      JOIN key_spend s ON s.account_id = made.account_id AND s.api_key_id = made.id
     CROSS JOIN LATERAL (SELECT s.spent - key_spent(s.account_id, s.api_key_id, s.period_start) AS amount) more
     WHERE s.period_start = key_period_start(s.period, now()) AND more.amount > 0
    ON CONFLICT DO NOTHING;`;
