import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The record of a call also says whether its charge was cut at its hold, what the provider itself said the call cost, and what
 * was made and not charged because the stream broke (decision G-103). The function that writes it has three parameters more, so
 * it has a new name; the one before it stays for processes of the former version.
 */
export class FullerRecords1700000000410 implements MigrationInterface {
  readonly name = 'FullerRecords1700000000410';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
    await runner.query(STEP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION execution_step_v2;
      ALTER TABLE execution DROP COLUMN capped, DROP COLUMN provider_figures, DROP COLUMN uncharged`);
  }
}

/**
 * `provider_figures`: names and values as the provider sent them, such as {"usage.cost": 0.0012}.
 * `uncharged`: {"unit": text, "quantity": number or counts of tokens}.
 */
const COLUMNS = `
  ALTER TABLE execution
    ADD COLUMN capped boolean NOT NULL DEFAULT false,
    ADD COLUMN provider_figures jsonb,
    ADD COLUMN uncharged jsonb;`;

/** execution_step as 0120 and 0351 describe it; only the three columns are new. */
const STEP = `
  CREATE FUNCTION execution_step_v2(
    p_accounts uuid[], p_process uuid, p_waits boolean,
    e_account int[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[],
    e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[],
    e_first_byte_ms int[], e_duration_ms int[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[],
    e_uncharged jsonb[],
    s_account int[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[],
    s_client_requests text[],
    OUT ended text[], OUT begun text[]
  ) LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    n int := cardinality(p_accounts);
    places tid[] := array_fill(NULL::tid, ARRAY[n]);
    refusals text[] := array_fill('locked'::text, ARRAY[n]);
    old_posted bigint[] := array_fill(NULL::bigint, ARRAY[n]);
    old_held bigint[] := old_posted;
    new_posted bigint[];
    new_held bigint[];
    charge_accounts uuid[] := '{}';
    charge_holds uuid[] := '{}';
    charges bigint[] := '{}';
    balances bigint[] := '{}';
    row record;
    k int;
    found_accounts int := 0;
    held_starts int := 0;
  BEGIN
    -- Between an id and itself, backwards: the newest version of a row lies behind the older ones, all of which a snapshot keeps.
    IF p_waits THEN
      PERFORM FROM unnest(p_accounts) p (id), LATERAL (
        SELECT FROM account a WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE) locked;
    END IF;
    FOR row IN
      SELECT p.position, locked.*
        FROM unnest(p_accounts) WITH ORDINALITY p (id, position), LATERAL (
          SELECT a.ctid AS place, a.posted, a.held FROM account a
           WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) locked
    LOOP
      places[row.position] := row.place;
      old_posted[row.position] := row.posted;
      old_held[row.position] := row.held;
      found_accounts := found_accounts + 1;
    END LOOP;
    IF found_accounts < n THEN
      FOR row IN
        SELECT p.position FROM unnest(p_accounts) WITH ORDINALITY p (id, position)
         WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = p.id)
      LOOP
        refusals[row.position] := 'missing';
      END LOOP;
    END IF;
    new_posted := old_posted;
    new_held := old_held;

    ended := array_fill(NULL::text, ARRAY[cardinality(e_ids)]);
    FOR row IN
      UPDATE execution e
         SET status = CASE WHEN t.charge IS NULL THEN 'failed' ELSE 'succeeded' END, completed_at = now(),
             charged = t.charge, error_code = t.error, provider = t.provider, upstream_model = t.upstream_model,
             provider_request_id = t.request, unit = t.unit, quantity = t.quantity, unit_price = t.unit_price,
             estimated = t.estimated, first_byte_ms = t.first_byte_ms, duration_ms = t.duration_ms,
             provider_fault = t.provider_fault, capped = t.capped, provider_figures = t.figures, uncharged = t.uncharged
        FROM unnest(e_account, e_ids, e_charges, e_errors, e_providers, e_upstream_models, e_requests, e_units,
                    e_quantities, e_unit_prices, e_estimated, e_first_byte_ms, e_duration_ms, e_provider_faults,
                    e_capped, e_figures, e_uncharged)
             WITH ORDINALITY t (account, id, charge, error, provider, upstream_model, request, unit, quantity, unit_price,
                                estimated, first_byte_ms, duration_ms, provider_fault, capped, figures, uncharged, position)
       WHERE places[t.account] IS NOT NULL AND e.account_id = p_accounts[t.account] AND e.id = t.id
         AND e.status = 'running' AND coalesce(t.charge, 0) <= e.held
      RETURNING t.position, t.account, e.account_id, e.id, e.held, e.charged
    LOOP
      k := row.account;
      ended[row.position] := 'done';
      new_held[k] := new_held[k] - row.held;
      IF row.charged > 0 THEN
        new_posted[k] := new_posted[k] - row.charged;
        charge_accounts := charge_accounts || row.account_id;
        charge_holds := charge_holds || row.id;
        charges := charges || -row.charged;
        balances := balances || new_posted[k];
      END IF;
    END LOOP;
    IF array_position(ended, NULL) IS NOT NULL THEN
      SELECT array_agg(
               CASE WHEN ended[t.position] IS NOT NULL THEN ended[t.position]
                    WHEN places[t.account] IS NULL THEN refusals[t.account]
                    WHEN e.status IS NULL THEN 'missing'
                    WHEN e.status = 'running' THEN 'excess'
                    WHEN e.charged IS NOT DISTINCT FROM t.charge THEN 'done' ELSE 'conflict' END ORDER BY t.position)
        INTO ended
        FROM unnest(e_account, e_ids, e_charges) WITH ORDINALITY t (account, id, charge, position)
        LEFT JOIN LATERAL (
          SELECT status, charged FROM execution x
           WHERE x.account_id = p_accounts[t.account] AND x.id = t.id OFFSET 0) e ON true;
    END IF;

    begun := array_fill(NULL::text, ARRAY[cardinality(s_ids)]);
    FOR row IN
      SELECT t.position, CASE WHEN x.status = 'running' AND x.held = t.amount THEN 'held' ELSE 'conflict' END AS outcome
        FROM unnest(s_account, s_ids, s_amounts) WITH ORDINALITY t (account, id, amount, position)
        JOIN execution x ON x.account_id = p_accounts[t.account] AND x.id = t.id
       WHERE places[t.account] IS NOT NULL
    LOOP
      begun[row.position] := row.outcome;
    END LOOP;
    FOR i IN 1 .. cardinality(s_ids) LOOP
      k := s_account[i];
      IF places[k] IS NULL THEN
        begun[i] := refusals[k];
      ELSIF begun[i] IS NULL AND s_amounts[i] <= new_posted[k] - new_held[k] THEN
        begun[i] := 'new';
        new_held[k] := new_held[k] + s_amounts[i];
        held_starts := held_starts + 1;
      ELSIF begun[i] IS NULL THEN
        begun[i] := 'insufficient';
      END IF;
    END LOOP;
    IF held_starts > 0 THEN
      INSERT INTO execution (account_id, id, process_id, api_key_id, held, model, endpoint, client_request_id)
        SELECT p_accounts[t.account], t.id, p_process, t.key, t.amount, t.model, t.endpoint, t.client_request
          FROM unnest(s_account, s_ids, s_amounts, s_keys, s_models, s_endpoints, s_client_requests, begun)
               t (account, id, amount, key, model, endpoint, client_request, outcome)
         WHERE t.outcome = 'new';
      begun := array_replace(begun, 'new', 'held');
    END IF;

    IF cardinality(charges) > 0 THEN
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after)
        SELECT t.account, t.hold, 'charge', t.amount, t.balance
          FROM unnest(charge_accounts, charge_holds, charges, balances) t (account, hold, amount, balance);
    END IF;
    UPDATE account a SET posted = t.new_posted, held = t.new_held
      FROM unnest(places, old_posted, old_held, new_posted, new_held)
           t (place, old_posted, old_held, new_posted, new_held)
     WHERE a.ctid = t.place AND (t.new_posted, t.new_held) IS DISTINCT FROM (t.old_posted, t.old_held);
  END $$;`;
