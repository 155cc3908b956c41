import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What keys with a limit have spent (decision G-99). A call or task of such a key names the period it counts in; a
 * trigger changes the sum with every change of its charge or hold, in the same transaction. Calls of other keys name no period
 * and are not slowed by this.
 *
 * A limit that is set on a used key is exact at once. Processes learn of it within 2 s, so for 3 s the sum is read from the calls
 * themselves, and then once more to begin the counter. Locks are taken in the order account, sum.
 */
export class SpendLimits1700000000161 implements MigrationInterface {
  readonly name = 'SpendLimits1700000000161';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    await runner.query(COUNT);
    await runner.query(SPENT);
    await runner.query(ROOM);
    await runner.query(STEP);
    await runner.query(SUBMIT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION task_submit_capped, execution_step_capped, key_room, key_spent, key_period_start;
      DROP TRIGGER execution_spends ON execution;
      DROP TRIGGER task_spends ON task;
      DROP FUNCTION execution_note_spend, task_note_spend, key_note_spend;
      ALTER TABLE execution DROP COLUMN spend_period;
      ALTER TABLE task DROP COLUMN spend_period;
      DROP TABLE key_spend;`);
  }
}

const BY_KEY = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off`;

/** `spend_period` is the start of the period a call or task counts in; null = in none. */
const TABLE = `
  CREATE TABLE key_spend (
    account_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    period text NOT NULL,
    period_start timestamptz NOT NULL,
    spent bigint NOT NULL,
    begun_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, api_key_id)
  ) WITH (fillfactor = 50);
  ALTER TABLE execution ADD COLUMN spend_period timestamptz;
  ALTER TABLE task ADD COLUMN spend_period timestamptz;`;

const COUNT = `
  CREATE FUNCTION key_note_spend(p_account uuid, p_key uuid, p_period_start timestamptz, p_amount bigint) RETURNS void
  LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF p_amount <> 0 THEN
      PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
      UPDATE key_spend SET spent = spent + p_amount
       WHERE account_id = p_account AND api_key_id = p_key AND period_start = p_period_start;
    END IF;
  END $$;

  CREATE FUNCTION execution_note_spend() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    counts bigint := CASE NEW.status WHEN 'running' THEN NEW.held WHEN 'succeeded' THEN NEW.charged ELSE 0 END;
    counted bigint := 0;
  BEGIN
    IF OLD.spend_period = NEW.spend_period THEN
      counted := CASE OLD.status WHEN 'running' THEN OLD.held WHEN 'succeeded' THEN OLD.charged ELSE 0 END;
    END IF;
    PERFORM key_note_spend(NEW.account_id, NEW.api_key_id, NEW.spend_period, counts - counted);
    RETURN NULL;
  END $$;
  CREATE TRIGGER execution_spends AFTER UPDATE ON execution
    FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL) EXECUTE FUNCTION execution_note_spend();

  CREATE FUNCTION task_note_spend() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    counts bigint := CASE WHEN NEW.status = 'succeeded' THEN NEW.charged
                          WHEN NEW.status IN ('failed', 'expired') THEN 0 ELSE NEW.reserved END;
    counted bigint := 0;
  BEGIN
    IF OLD.spend_period = NEW.spend_period THEN
      counted := CASE WHEN OLD.status = 'succeeded' THEN OLD.charged
                      WHEN OLD.status IN ('failed', 'expired') THEN 0 ELSE OLD.reserved END;
    END IF;
    PERFORM key_note_spend(NEW.account_id, NEW.api_key_id, NEW.spend_period, counts - counted);
    RETURN NULL;
  END $$;
  CREATE TRIGGER task_spends AFTER UPDATE ON task
    FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL) EXECUTE FUNCTION task_note_spend();`;

/** What the calls and tasks of a key that began at or after a time cost or hold. Ids begin with the time, to the minute. */
const SPENT = `
  CREATE FUNCTION key_period_start(p_period text, p_at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_period = 'total' THEN '-infinity'::timestamptz ELSE date_trunc(p_period, p_at, 'UTC') END;
  $$;

  CREATE FUNCTION key_spent(p_account uuid, p_key uuid, p_from timestamptz) RETURNS bigint
  LANGUAGE plpgsql STABLE ${BY_KEY} AS $$
  DECLARE
    first uuid := '00000000-0000-0000-0000-000000000000';
  BEGIN
    IF p_from > '-infinity' THEN
      first := (lpad(to_hex(((extract(epoch FROM p_from) - 3600) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
    END IF;
    RETURN (
      SELECT coalesce(sum(CASE status WHEN 'running' THEN held WHEN 'succeeded' THEN charged ELSE 0 END), 0)
        FROM execution WHERE api_key_id = p_key AND id >= first AND account_id = p_account AND created_at >= p_from)
    + (SELECT coalesce(sum(CASE WHEN status = 'succeeded' THEN charged WHEN status IN ('failed', 'expired') THEN 0
                                ELSE reserved END), 0)
        FROM task WHERE account_id = p_account AND id >= first AND api_key_id = p_key AND created_at >= p_from);
  END $$;`;

/**
 * What a key may still spend; the account is locked. `room` is null for a key without a limit; `counts_in` is the period to
 * which new calls are counted, null while their sum is still read from the calls.
 */
const ROOM = `
  CREATE FUNCTION key_room(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamptz)
  LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    terms record;
    known key_spend;
    start timestamptz;
    total bigint;
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
    UPDATE execution SET spend_period = start
     WHERE api_key_id = p_key AND account_id = p_account AND status = 'running' AND created_at >= start;
    UPDATE task SET spend_period = start
     WHERE account_id = p_account AND api_key_id = p_key AND created_at >= start
       AND status IN ('queued', 'processing', 'reconciliation_required');
    INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
      VALUES (p_account, p_key, terms.period, start, total, clock_timestamp())
      ON CONFLICT (account_id, api_key_id) DO UPDATE
        SET period = excluded.period, period_start = excluded.period_start, spent = excluded.spent,
            begun_at = excluded.begun_at;
    counts_in := start;
  END $$;`;

/**
 * As execution_step, for a batch with starts of keys that may have a limit (`s_capped`); the outcome of such a start may also
 * be over_limit. Ends come first, because they free money; starts are tried in order of arrival.
 */
const STEP = `
  CREATE FUNCTION execution_step_capped(
    p_accounts uuid[], p_process uuid, p_waits boolean,
    e_account int[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[],
    e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[],
    e_first_byte_ms int[], e_duration_ms int[], e_provider_faults jsonb[],
    s_account int[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[],
    s_client_requests text[], s_capped boolean[],
    OUT ended text[], OUT begun text[]
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    n int := cardinality(s_ids);
    is_locked boolean[] := array_fill(true, ARRAY[cardinality(p_accounts)]);
    keys uuid[] := '{}';
    rooms bigint[] := '{}';
    periods timestamptz[] := '{}';
    left_over bigint[];
    key_of int[] := array_fill(NULL::int, ARRAY[n]);
    asked int[];
    outcomes text[];
    allowance record;
    result text;
    k int;
    is_freed boolean;
  BEGIN
    FOR i IN 1 .. cardinality(p_accounts) LOOP
      IF p_waits THEN
        PERFORM FROM account WHERE id = p_accounts[i] FOR NO KEY UPDATE;
      ELSE
        PERFORM FROM account WHERE id = p_accounts[i] FOR NO KEY UPDATE SKIP LOCKED;
      END IF;
      is_locked[i] := FOUND;
    END LOOP;

    SELECT s.ended INTO ended FROM execution_step(
      p_accounts, p_process, p_waits, e_account, e_ids, e_charges, e_errors, e_providers, e_upstream_models, e_requests,
      e_units, e_quantities, e_unit_prices, e_estimated, e_first_byte_ms, e_duration_ms, e_provider_faults,
      '{}', '{}', '{}', '{}', '{}', '{}', '{}') s;

    begun := array_fill(NULL::text, ARRAY[n]);
    FOR i IN 1 .. n LOOP
      IF s_capped[i] AND NOT is_locked[s_account[i]] THEN
        SELECT 'locked' INTO result FROM account WHERE id = p_accounts[s_account[i]];
        begun[i] := result;
      ELSIF s_capped[i] AND NOT EXISTS (SELECT FROM execution WHERE account_id = p_accounts[s_account[i]] AND id = s_ids[i]) THEN
        key_of[i] := array_position(keys, s_keys[i]);
        IF key_of[i] IS NULL THEN
          SELECT * INTO allowance FROM key_room(p_accounts[s_account[i]], s_keys[i]);
          keys := keys || s_keys[i];
          rooms := rooms || allowance.room;
          periods := periods || allowance.counts_in;
          key_of[i] := cardinality(keys);
        END IF;
      END IF;
    END LOOP;

    -- A start that the balance refuses leaves its share of the limit to the next: those are asked again.
    LOOP
      asked := '{}';
      left_over := rooms;
      FOR i IN 1 .. n LOOP
        k := key_of[i];
        CONTINUE WHEN begun[i] IS NOT NULL AND begun[i] <> 'over_limit';
        IF k IS NULL OR rooms[k] IS NULL THEN
          asked := asked || i;
        ELSIF s_amounts[i] <= left_over[k] THEN
          asked := asked || i;
          left_over[k] := left_over[k] - s_amounts[i];
        ELSE
          begun[i] := 'over_limit';
        END IF;
      END LOOP;
      EXIT WHEN cardinality(asked) = 0;

      SELECT s.begun INTO outcomes
        FROM (SELECT array_agg(s_account[a.i] ORDER BY a.ord) AS account, array_agg(s_ids[a.i] ORDER BY a.ord) AS ids,
                     array_agg(s_amounts[a.i] ORDER BY a.ord) AS amounts, array_agg(s_keys[a.i] ORDER BY a.ord) AS keys,
                     array_agg(s_models[a.i] ORDER BY a.ord) AS models,
                     array_agg(s_endpoints[a.i] ORDER BY a.ord) AS endpoints,
                     array_agg(s_client_requests[a.i] ORDER BY a.ord) AS client_requests
                FROM unnest(asked) WITH ORDINALITY a (i, ord)) p,
             LATERAL execution_step(
               p_accounts, p_process, p_waits, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
               '{}', '{}', p.account, p.ids, p.amounts, p.keys, p.models, p.endpoints, p.client_requests) s;
      is_freed := false;
      FOR j IN 1 .. cardinality(asked) LOOP
        begun[asked[j]] := outcomes[j];
        k := key_of[asked[j]];
        IF k IS NOT NULL AND outcomes[j] = 'held' THEN
          rooms[k] := rooms[k] - s_amounts[asked[j]];
          UPDATE execution SET spend_period = periods[k]
           WHERE account_id = p_accounts[s_account[asked[j]]] AND id = s_ids[asked[j]] AND periods[k] IS NOT NULL;
        ELSIF k IS NOT NULL THEN
          is_freed := true;
        END IF;
      END LOOP;
      EXIT WHEN NOT is_freed;
    END LOOP;
  END $$;`;

/** As task_submit, for a key that may have a limit. The outcome may also be over_limit. */
const SUBMIT = `
  CREATE FUNCTION task_submit_capped(
    p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text,
    p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text,
    p_amount bigint, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid,
    OUT outcome text, OUT created timestamptz
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    allowance record;
    is_new boolean;
  BEGIN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    is_new := NOT EXISTS (SELECT FROM task WHERE account_id = p_account AND id = p_id);
    SELECT * INTO allowance FROM key_room(p_account, p_api_key);
    IF is_new AND p_amount > allowance.room THEN
      outcome := 'over_limit';
      RETURN;
    END IF;
    SELECT t.outcome, t.created INTO outcome, created FROM task_submit(
      p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider, p_base_url,
      p_on_sandbox, p_upstream_model, p_lane, p_amount, p_webhook_url, p_webhook_secret, p_endpoint, p_key, p_token) t;
    IF is_new AND outcome = 'created' AND allowance.counts_in IS NOT NULL THEN
      UPDATE task SET spend_period = allowance.counts_in WHERE account_id = p_account AND id = p_id;
    END IF;
  END $$;`;
