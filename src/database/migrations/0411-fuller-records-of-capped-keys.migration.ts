import type { MigrationInterface, QueryRunner } from 'typeorm';

/** execution_step_capped with the three parameters that execution_step_v2 has gained; the one before it stays for the former version. */
export class FullerRecordsOfCappedKeys1700000000411 implements MigrationInterface {
  readonly name = 'FullerRecordsOfCappedKeys1700000000411';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(STEP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION execution_step_capped_v2');
  }
}

/** As 0242 and 0352 describe it. */
const STEP = `
  CREATE FUNCTION execution_step_capped_v2(
    p_accounts uuid[], p_process uuid, p_waits boolean,
    e_account int[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[],
    e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[],
    e_first_byte_ms int[], e_duration_ms int[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[],
    e_uncharged jsonb[],
    s_account int[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[],
    s_client_requests text[], s_capped boolean[],
    OUT ended text[], OUT begun text[]
  ) LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    n int := cardinality(s_ids);
    locked uuid[];
    new_keys uuid[];
    keys uuid[];
    rooms bigint[];
    periods timestamptz[];
    left_over bigint[];
    key_of int[];
    asked int[];
    outcomes text[];
    k int;
    is_freed boolean;
  BEGIN
    -- Backwards, as in execution_step (0351): the newest version of a row is found first.
    IF p_waits THEN
      PERFORM FROM unnest(p_accounts) p (id), LATERAL (
        SELECT FROM account a WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE) x;
    END IF;
    locked := ARRAY(
      SELECT x.id FROM unnest(p_accounts) p (id), LATERAL (
        SELECT a.id FROM account a
         WHERE a.id BETWEEN p.id AND p.id ORDER BY a.id DESC LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) x);

    SELECT s.ended INTO ended FROM execution_step_v2(
      p_accounts, p_process, p_waits, e_account, e_ids, e_charges, e_errors, e_providers, e_upstream_models, e_requests,
      e_units, e_quantities, e_unit_prices, e_estimated, e_first_byte_ms, e_duration_ms, e_provider_faults,
      e_capped, e_figures, e_uncharged, '{}', '{}', '{}', '{}', '{}', '{}', '{}') s;

    -- A start that is recorded already, or whose account does not exist, is answered by execution_step.
    SELECT array_agg(CASE WHEN t.capped AND NOT l.is_ours AND EXISTS (SELECT FROM account a WHERE a.id = p_accounts[t.account])
                          THEN 'locked' END ORDER BY t.position),
           array_agg(CASE WHEN t.capped AND l.is_ours AND NOT EXISTS (
                            SELECT FROM execution x WHERE x.account_id = p_accounts[t.account] AND x.id = t.id)
                          THEN t.key END ORDER BY t.position)
      INTO begun, new_keys
      FROM unnest(s_account, s_ids, s_keys, s_capped) WITH ORDINALITY t (account, id, key, capped, position),
           LATERAL (SELECT p_accounts[t.account] = ANY (locked) AS is_ours) l;
    SELECT array_agg(u.key), array_agg(r.room), array_agg(r.counts_in) INTO keys, rooms, periods
      FROM (SELECT DISTINCT t.account, t.key FROM unnest(s_account, new_keys) t (account, key)
             WHERE t.key IS NOT NULL) u,
           LATERAL key_room(p_accounts[u.account], u.key) r;
    key_of := ARRAY(
      SELECT array_position(keys, t.key) FROM unnest(new_keys) WITH ORDINALITY t (key, position) ORDER BY t.position);

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
             LATERAL execution_step_v2(
               p_accounts, p_process, p_waits, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
               '{}', '{}', '{}', '{}', '{}', p.account, p.ids, p.amounts, p.keys, p.models, p.endpoints, p.client_requests) s;
      is_freed := false;
      FOR j IN 1 .. cardinality(asked) LOOP
        begun[asked[j]] := outcomes[j];
        k := key_of[asked[j]];
        IF k IS NOT NULL AND outcomes[j] = 'held' THEN
          rooms[k] := rooms[k] - s_amounts[asked[j]];
        ELSIF k IS NOT NULL THEN
          is_freed := true;
        END IF;
      END LOOP;
      EXIT WHEN NOT is_freed;
    END LOOP;
    UPDATE execution e SET spend_period = periods[t.k]
      FROM unnest(s_account, s_ids, key_of, begun) t (account, id, k, outcome)
     WHERE t.outcome = 'held' AND periods[t.k] IS NOT NULL AND e.account_id = p_accounts[t.account] AND e.id = t.id;
  END $$;`;
