import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The functions that begin and end synchronous calls: many calls of many accounts in one durable statement. */
export class ExecutionSteps1700000000051 implements MigrationInterface {
  readonly name = 'ExecutionSteps1700000000051';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(STEP);
    await runner.query(CANCEL);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION execution_step, execution_cancel;`);
  }
}

// A session plans each statement once, perhaps while the tables are empty. No plan may read a whole table.
const BY_KEY = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off`;

/**
 * Ends calls, then begins calls, so that the calls that begin can use the money that the ends free. `p_accounts` are distinct
 * and in order; each call names its account by position. Accounts are locked in that order. An account that another
 * transaction has locked is left out and its calls return `locked`, unless `p_waits`. Outcomes, in the order of the calls:
 * - ends: done (also when it was done before), conflict (ended in another way), excess (the charge is above the hold), missing;
 * - starts: held (also when it was held before), insufficient, conflict (the id was used for another call), missing (no account).
 * Calls are tried in order of arrival, and each that fits begins.
 */
const STEP = `
  CREATE FUNCTION execution_step(
    p_accounts uuid[], p_process uuid, p_waits boolean,
    e_account int[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[],
    e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[],
    e_first_byte_ms int[], e_duration_ms int[], e_provider_faults jsonb[],
    s_account int[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[],
    s_client_requests text[],
    OUT ended text[], OUT begun text[]
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    n int := cardinality(p_accounts);
    refusal text[] := array_fill(NULL::text, ARRAY[n]);
    old_posted bigint[] := array_fill(NULL::bigint, ARRAY[n]);
    old_held bigint[] := array_fill(NULL::bigint, ARRAY[n]);
    new_posted bigint[];
    new_held bigint[];
    charged_account int[] := '{}';
    charged_hold uuid[] := '{}';
    charged_amount bigint[] := '{}';
    charged_balance bigint[] := '{}';
    locked record;
    k int;
    amount bigint;
    result text;
  BEGIN
    FOR i IN 1 .. n LOOP
      IF p_waits THEN
        SELECT a.posted, a.held INTO locked FROM account a WHERE id = p_accounts[i] FOR NO KEY UPDATE;
      ELSE
        SELECT a.posted, a.held INTO locked FROM account a WHERE id = p_accounts[i] FOR NO KEY UPDATE SKIP LOCKED;
      END IF;
      IF FOUND THEN
        old_posted[i] := locked.posted;
        old_held[i] := locked.held;
      ELSE
        SELECT 'locked' INTO result FROM account WHERE id = p_accounts[i];
        refusal[i] := coalesce(result, 'missing');
      END IF;
    END LOOP;
    new_posted := old_posted;
    new_held := old_held;

    ended := array_fill('done'::text, ARRAY[cardinality(e_ids)]);
    FOR i IN 1 .. cardinality(e_ids) LOOP
      k := e_account[i];
      IF refusal[k] IS NOT NULL THEN
        ended[i] := refusal[k];
        CONTINUE;
      END IF;
      UPDATE execution e
         SET status = CASE WHEN e_charges[i] IS NULL THEN 'failed' ELSE 'succeeded' END, completed_at = now(),
             charged = e_charges[i], error_code = e_errors[i], provider = e_providers[i],
             upstream_model = e_upstream_models[i], provider_request_id = e_requests[i], unit = e_units[i],
             quantity = e_quantities[i], unit_price = e_unit_prices[i], estimated = e_estimated[i],
             first_byte_ms = e_first_byte_ms[i], duration_ms = e_duration_ms[i],
             provider_fault = e_provider_faults[i]
       WHERE e.account_id = p_accounts[k] AND e.id = e_ids[i] AND e.status = 'running'
         AND coalesce(e_charges[i], 0) <= e.held
       RETURNING e.held INTO amount;
      IF FOUND THEN
        new_held[k] := new_held[k] - amount;
        IF e_charges[i] > 0 THEN
          new_posted[k] := new_posted[k] - e_charges[i];
          charged_account := charged_account || k;
          charged_hold := charged_hold || e_ids[i];
          charged_amount := charged_amount || -e_charges[i];
          charged_balance := charged_balance || new_posted[k];
        END IF;
      ELSE
        SELECT CASE WHEN e.status = 'running' THEN 'excess'
                    WHEN e.charged IS NOT DISTINCT FROM e_charges[i] THEN 'done' ELSE 'conflict' END
          INTO result FROM execution e WHERE e.account_id = p_accounts[k] AND e.id = e_ids[i];
        ended[i] := coalesce(result, 'missing');
      END IF;
    END LOOP;

    begun := array_fill('held'::text, ARRAY[cardinality(s_ids)]);
    FOR i IN 1 .. cardinality(s_ids) LOOP
      k := s_account[i];
      IF refusal[k] IS NOT NULL THEN
        begun[i] := refusal[k];
        CONTINUE;
      END IF;
      IF s_amounts[i] <= new_posted[k] - new_held[k] THEN
        INSERT INTO execution (account_id, id, process_id, api_key_id, held, model, endpoint, client_request_id)
          VALUES (p_accounts[k], s_ids[i], p_process, s_keys[i], s_amounts[i], s_models[i], s_endpoints[i],
                  s_client_requests[i])
          ON CONFLICT DO NOTHING;
        IF FOUND THEN
          new_held[k] := new_held[k] + s_amounts[i];
          CONTINUE;
        END IF;
      END IF;
      SELECT CASE WHEN e.status = 'running' AND e.held = s_amounts[i] THEN 'held' ELSE 'conflict' END
        INTO result FROM execution e WHERE e.account_id = p_accounts[k] AND e.id = s_ids[i];
      begun[i] := coalesce(result, 'insufficient');
    END LOOP;

    IF cardinality(charged_hold) > 0 THEN
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after)
        SELECT p_accounts[c.k], c.hold, 'charge', c.amount, c.balance
          FROM unnest(charged_account, charged_hold, charged_amount, charged_balance)
               WITH ORDINALITY c (k, hold, amount, balance, ord)
         ORDER BY c.ord;
    END IF;
    FOR i IN 1 .. n LOOP
      IF (new_posted[i], new_held[i]) IS DISTINCT FROM (old_posted[i], old_held[i]) THEN
        UPDATE account SET posted = new_posted[i], held = new_held[i] WHERE id = p_accounts[i];
      END IF;
    END LOOP;
  END $$;`;

/**
 * Makes sure that a call whose caller received an error holds nothing and costs nothing: its hold is released or its charge is
 * given back; if the call never arrived, its id is taken, so that it cannot arrive later. May be repeated. Returns what it
 * did: released, reversed, cancelled; nothing if there was nothing to do; missing if there is no such account.
 */
const CANCEL = `
  CREATE FUNCTION execution_cancel(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text,
    p_provider_request_id text
  ) RETURNS text LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    balance bigint;
    known execution;
  BEGIN
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'missing';
    END IF;
    SELECT * INTO known FROM execution WHERE account_id = p_account AND id = p_id;
    IF NOT FOUND THEN
      INSERT INTO execution (account_id, id, api_key_id, held, model, endpoint, status, completed_at, error_code)
        VALUES (p_account, p_id, p_api_key, 0, p_model, p_endpoint, 'failed', now(), p_error_code);
      RETURN 'cancelled';
    ELSIF known.status = 'failed' THEN
      RETURN 'nothing';
    END IF;
    UPDATE execution
       SET status = 'failed', charged = NULL, error_code = p_error_code, completed_at = coalesce(completed_at, now()),
           provider = coalesce(p_provider, provider),
           provider_request_id = coalesce(p_provider_request_id, provider_request_id)
     WHERE account_id = p_account AND id = p_id;
    IF known.status = 'running' THEN
      UPDATE account SET held = held - known.held WHERE id = p_account;
      RETURN 'released';
    END IF;
    IF known.charged > 0 THEN
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
        VALUES (p_account, p_id, 'correction', known.charged, balance + known.charged, 'reversal');
      UPDATE account SET posted = posted + known.charged WHERE id = p_account;
    END IF;
    RETURN 'reversed';
  END $$;`;
