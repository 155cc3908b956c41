import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The record of every synchronous call and the functions that write it in the same statement as its hold
 * (API: Headers of answers; decisions G-22, G-25). `execution.id` is the id of its hold and is ordered by time.
 */
export class CreateExecutions1700000000020 implements MigrationInterface {
  readonly name = 'CreateExecutions1700000000020';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    await runner.query(BEGIN);
    await runner.query(FINISH);
    await runner.query(REVERSE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION execution_reverse, execution_finish, execution_begin;
      DROP TABLE execution;`);
  }
}

const TABLE = `
  CREATE TABLE execution (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    api_key_id uuid,
    model text NOT NULL,
    endpoint text NOT NULL,
    status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'succeeded', 'failed')),
    error_code text,
    charged bigint,
    provider text,
    provider_request_id text,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    PRIMARY KEY (account_id, id)
  ) WITH (fillfactor = 80);
  CREATE INDEX execution_by_id ON execution (id);`;

// As in the ledger's functions: no plan may read all executions of an account.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** Calls ledger_hold, and inserts a running execution for every hold that is held. */
const BEGIN = `
  CREATE FUNCTION execution_begin(
    p_account uuid, p_ids uuid[], p_amounts bigint[], p_expires timestamptz[], p_api_keys uuid[], p_models text[],
    p_endpoints text[], p_process uuid
  ) RETURNS text[] LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    outcomes text[] := ledger_hold(
      p_account, p_ids, p_amounts, array_fill('execution'::text, ARRAY[cardinality(p_ids)]), p_expires, p_process);
  BEGIN
    INSERT INTO execution (account_id, id, api_key_id, model, endpoint)
      SELECT p_account, a.id, a.api_key, a.model, a.endpoint
        FROM unnest(p_ids, p_api_keys, p_models, p_endpoints, outcomes) a (id, api_key, model, endpoint, outcome)
       WHERE a.outcome = 'held'
      ON CONFLICT DO NOTHING;
    RETURN outcomes;
  END $$;`;

/** Calls ledger_resolve, and ends every execution whose hold it resolved. */
const FINISH = `
  CREATE FUNCTION execution_finish(
    p_account uuid, p_ids uuid[], p_charges bigint[], p_error_codes text[], p_providers text[],
    p_provider_request_ids text[]
  ) RETURNS text[] LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    outcomes text[] := ledger_resolve(p_account, p_ids, p_charges);
  BEGIN
    UPDATE execution e
       SET status = CASE WHEN a.charge IS NULL THEN 'failed' ELSE 'succeeded' END,
           charged = a.charge, error_code = a.error_code, provider = a.provider,
           provider_request_id = a.provider_request_id, completed_at = now()
      FROM unnest(p_ids, p_charges, p_error_codes, p_providers, p_provider_request_ids, outcomes)
           a (id, charge, error_code, provider, provider_request_id, outcome),
           LATERAL (SELECT ctid AS row FROM execution WHERE account_id = p_account AND id = a.id OFFSET 0) known
     WHERE e.ctid = known.row AND e.status = 'running' AND a.outcome = 'done';
    RETURN outcomes;
  END $$;`;

/**
 * Gives back the charge of an execution whose caller received an error although the settlement had been committed. Returns
 * true when the money is back, also when it was given back before; false if the execution was never charged.
 */
const REVERSE = `
  CREATE FUNCTION execution_reverse(p_account uuid, p_id uuid, p_error_code text)
  RETURNS boolean LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    charge bigint;
  BEGIN
    SELECT settled_amount INTO charge FROM hold WHERE account_id = p_account AND id = p_id AND state = 'settled';
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    IF charge > 0 THEN
      PERFORM ledger_credit(p_account, charge, 'correction', 'reversal:' || p_id, 'reversal of execution ' || p_id);
    END IF;
    UPDATE execution SET status = 'failed', charged = NULL, error_code = p_error_code
      WHERE account_id = p_account AND id = p_id AND status = 'succeeded';
    RETURN true;
  END $$;`;
