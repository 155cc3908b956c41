import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A synchronous call is one row: its execution holds the money while it runs (decision G-22), which halves the rows, index
 * entries and log of a call. The table of holds stays for tasks. Processes write the end of their own lease.
 *
 * No index and no predicate names a column that changes, so that the end of a call rewrites its row in place.
 */
export class OneRowPerCall1700000000050 implements MigrationInterface {
  readonly name = 'OneRowPerCall1700000000050';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PROCESSES);
    await runner.query(EXECUTIONS);
    await runner.query(HOLDS);
    await runner.query(ENTRIES);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Calls of today fit no older table: restore a backup'));
  }
}

/** Only the owner writes `lease_until`. `oldest_open_at` is earlier than the first call that the owner may still run. */
const PROCESSES = `
  ALTER TABLE gateway_process
    ADD COLUMN lease_ms integer NOT NULL DEFAULT 15000,
    ADD COLUMN lease_until timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN unbroken_since timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN open_calls integer NOT NULL DEFAULT 0,
    ADD COLUMN oldest_open_at timestamptz NOT NULL DEFAULT '-infinity';
  UPDATE gateway_process SET lease_until = heartbeat_at + interval '15 seconds';
  ALTER TABLE gateway_process DROP COLUMN heartbeat_at;
  INSERT INTO gateway_process (id)
    SELECT DISTINCT process_id FROM hold WHERE state = 'open' AND process_id IS NOT NULL
    ON CONFLICT DO NOTHING;`;

// The columns that the end of a call changes are the last ones, because only that part of the row is logged again.
const EXECUTIONS = `
  DROP FUNCTION execution_reverse, execution_finish, execution_begin;
  ALTER TABLE execution RENAME TO execution_before;
  ALTER INDEX execution_pkey RENAME TO execution_before_pkey;
  DROP INDEX execution_by_id;

  CREATE TABLE execution (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    process_id uuid,
    api_key_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    held bigint NOT NULL CHECK (held >= 0),
    model text NOT NULL,
    endpoint text NOT NULL,
    client_request_id text,
    status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'succeeded', 'failed')),
    completed_at timestamptz,
    charged bigint,
    error_code text,
    provider text,
    upstream_model text,
    provider_request_id text,
    unit text,
    quantity jsonb,
    unit_price jsonb,
    estimated boolean,
    first_byte_ms integer,
    duration_ms integer,
    provider_fault jsonb,
    CHECK (charged BETWEEN 0 AND held),
    CHECK ((status = 'succeeded') = (charged IS NOT NULL)),
    CHECK ((status = 'running') = (completed_at IS NULL))
  ) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
          autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 100000);

  INSERT INTO execution (account_id, id, process_id, api_key_id, created_at, held, model, endpoint, status, completed_at,
                         charged, error_code, provider, provider_request_id)
    SELECT e.account_id, e.id, h.process_id, e.api_key_id, e.created_at, coalesce(h.amount, e.charged, 0), e.model,
           e.endpoint, e.status, e.completed_at, e.charged, e.error_code, e.provider, e.provider_request_id
      FROM execution_before e LEFT JOIN hold h USING (account_id, id)
     ORDER BY e.id;
  DELETE FROM hold h USING execution e WHERE e.account_id = h.account_id AND e.id = h.id;
  DROP TABLE execution_before;

  ALTER TABLE execution ADD PRIMARY KEY (account_id, id);
  CREATE INDEX execution_by_id ON execution (id);
  CREATE INDEX execution_of_key ON execution (api_key_id, id);
  CREATE INDEX execution_of_client_request ON execution (account_id, client_request_id, id)
    WHERE client_request_id IS NOT NULL;
  CREATE INDEX execution_by_time ON execution USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);`;

const HOLDS = `
  DROP INDEX hold_open_of_process;
  DROP FUNCTION ledger_resolve, ledger_hold;
  ALTER TABLE hold DROP COLUMN process_id, DROP COLUMN expires_at;
  ALTER TABLE hold SET (fillfactor = 60);

  CREATE FUNCTION ledger_hold(p_account uuid, p_id uuid, p_amount bigint, p_owner text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    free bigint;
    known hold;
  BEGIN
    SELECT posted - held INTO free FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'missing';
    END IF;
    SELECT * INTO known FROM hold WHERE account_id = p_account AND id = p_id;
    IF FOUND THEN
      RETURN CASE WHEN known.state = 'open' AND known.amount = p_amount THEN 'held' ELSE 'conflict' END;
    END IF;
    IF p_amount > free THEN
      RETURN 'insufficient';
    END IF;
    INSERT INTO hold (account_id, id, amount, owner) VALUES (p_account, p_id, p_amount, p_owner);
    UPDATE account SET held = held + p_amount WHERE id = p_account;
    RETURN 'held';
  END $$;

  -- Settles, or releases where the charge is null. Releasing a hold that never arrived records it as released, so that a
  -- hold still under way can never open.
  CREATE FUNCTION ledger_resolve(p_account uuid, p_id uuid, p_charge bigint) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    balance bigint;
    known hold;
  BEGIN
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'missing';
    END IF;
    SELECT * INTO known FROM hold WHERE account_id = p_account AND id = p_id;
    IF NOT FOUND AND p_charge IS NOT NULL THEN
      RETURN 'missing';
    ELSIF NOT FOUND THEN
      INSERT INTO hold (account_id, id, amount, state, owner, resolved_at)
        VALUES (p_account, p_id, 0, 'released', 'cancelled', now());
      RETURN 'done';
    ELSIF known.state <> 'open' THEN
      RETURN CASE WHEN known.settled_amount IS NOT DISTINCT FROM p_charge THEN 'done' ELSE 'conflict' END;
    ELSIF p_charge > known.amount THEN
      RETURN 'excess';
    END IF;
    UPDATE hold SET state = CASE WHEN p_charge IS NULL THEN 'released' ELSE 'settled' END,
                    settled_amount = p_charge, resolved_at = now()
     WHERE account_id = p_account AND id = p_id;
    UPDATE account SET held = held - known.amount, posted = posted - coalesce(p_charge, 0) WHERE id = p_account;
    IF p_charge > 0 THEN
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after)
        VALUES (p_account, p_id, 'charge', -p_charge, balance - p_charge);
    END IF;
    RETURN 'done';
  END $$;`;

// A correction may name the call or task whose charge it gives back, once. Idempotency keys belong to operators only.
const ENTRIES = `
  ALTER TABLE ledger_entry DROP CONSTRAINT ledger_entry_check;
  ALTER TABLE ledger_entry ADD CONSTRAINT ledger_entry_hold_of_kind
    CHECK (CASE kind WHEN 'charge' THEN hold_id IS NOT NULL WHEN 'credit' THEN hold_id IS NULL ELSE true END);
  DROP INDEX ledger_entry_one_charge_per_hold;
  CREATE UNIQUE INDEX ledger_entry_one_charge_per_hold ON ledger_entry (account_id, hold_id) WHERE kind = 'charge';
  CREATE UNIQUE INDEX ledger_entry_one_correction_per_hold ON ledger_entry (account_id, hold_id)
    WHERE kind = 'correction' AND hold_id IS NOT NULL;

  ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only;
  UPDATE ledger_entry SET hold_id = substr(idempotency_key, 10)::uuid, idempotency_key = NULL
   WHERE kind = 'correction' AND idempotency_key = 'reversal:' || right(reference, 36)
     AND reference LIKE 'reversal of execution ________-____-____-____-____________';
  ALTER TABLE ledger_entry ENABLE TRIGGER ledger_entry_append_only;`;
