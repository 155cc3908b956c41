import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Accounts, holds, ledger entries and the functions that move money (API: Money; decisions G-22, G-29).
 *
 * Every function first locks the row of its account, so the statements of an account run one after the other.
 * All keys contain `account_id` and every statement touches one account, so the tables can be distributed by it.
 * There are no foreign keys: each function proves under its lock that the account exists, and no account is ever deleted.
 */
export class CreateLedger1700000000010 implements MigrationInterface {
  readonly name = 'CreateLedger1700000000010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(APPEND_ONLY);
    await runner.query(HOLD);
    await runner.query(RESOLVE);
    await runner.query(CREDIT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION ledger_credit, ledger_resolve, ledger_hold;
      DROP TABLE ledger_entry, hold, account, gateway_process;
      DROP FUNCTION ledger_entry_refuse_change;`);
  }
}

// The row has free space beside it and no index on its counters, so PostgreSQL can rewrite it in place.
const TABLES = `
  CREATE TABLE account (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    posted bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (0 <= held AND held <= posted)
  ) WITH (fillfactor = 50);

  CREATE TABLE hold (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    amount bigint NOT NULL,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'released')),
    owner text NOT NULL,
    process_id uuid,
    expires_at timestamptz,
    settled_amount bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    resolved_at timestamptz,
    PRIMARY KEY (account_id, id),
    CHECK (amount > 0 OR (amount = 0 AND state = 'released')),
    CHECK ((state = 'settled') = (settled_amount IS NOT NULL)),
    CHECK (settled_amount BETWEEN 0 AND amount),
    CHECK ((state = 'open') = (resolved_at IS NULL))
  );
  CREATE INDEX hold_open_of_process ON hold (created_at) WHERE state = 'open' AND process_id IS NOT NULL;

  CREATE TABLE ledger_entry (
    account_id uuid NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    hold_id uuid,
    kind text NOT NULL CHECK (kind IN ('credit', 'correction', 'charge')),
    amount bigint NOT NULL CHECK (amount <> 0),
    balance_after bigint NOT NULL CHECK (balance_after >= 0),
    reference text,
    idempotency_key text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, position),
    CHECK ((kind = 'charge') = (hold_id IS NOT NULL)),
    CHECK (kind <> 'charge' OR amount < 0),
    CHECK (kind <> 'credit' OR amount > 0)
  );
  CREATE UNIQUE INDEX ledger_entry_one_charge_per_hold ON ledger_entry (account_id, hold_id) WHERE hold_id IS NOT NULL;
  CREATE UNIQUE INDEX ledger_entry_one_per_key ON ledger_entry (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

  CREATE TABLE gateway_process (
    id uuid PRIMARY KEY,
    heartbeat_at timestamptz NOT NULL DEFAULT now()
  );`;

const APPEND_ONLY = `
  CREATE FUNCTION ledger_entry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'ledger_entry is append-only' USING ERRCODE = 'restrict_violation';
  END $$;
  CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change();`;

// A session plans each statement once, perhaps while the tables are empty. No plan may read all holds of an account: rows are
// looked up one by one (LATERAL … OFFSET 0) by primary key and changed by ctid, which is stable under the account's lock.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/**
 * Returns one outcome per requested hold, in order: held, insufficient, conflict (the id was used for another hold), missing
 * (no such account). Holds are tried in order of arrival, and each that fits is taken. A repeated request for an open hold
 * of the same amount returns held.
 */
const HOLD = `
  CREATE FUNCTION ledger_hold(
    p_account uuid, p_ids uuid[], p_amounts bigint[], p_owners text[], p_expires timestamptz[], p_process uuid
  ) RETURNS text[] LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    free bigint;
    taken bigint := 0;
    outcomes text[];
  BEGIN
    SELECT posted - held INTO free FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN array_fill('missing'::text, ARRAY[cardinality(p_ids)]);
    END IF;

    SELECT array_agg(CASE WHEN h.id IS NULL THEN 'asked'
                          WHEN h.state = 'open' AND h.amount = a.amount THEN 'held'
                          ELSE 'conflict' END ORDER BY a.ord)
      INTO outcomes
      FROM unnest(p_ids, p_amounts) WITH ORDINALITY a (id, amount, ord)
      LEFT JOIN LATERAL (SELECT * FROM hold WHERE account_id = p_account AND id = a.id OFFSET 0) h ON true;

    FOR i IN 1 .. cardinality(p_ids) LOOP
      IF outcomes[i] = 'asked' THEN
        IF p_amounts[i] <= free - taken THEN
          outcomes[i] := 'new';
          taken := taken + p_amounts[i];
        ELSE
          outcomes[i] := 'insufficient';
        END IF;
      END IF;
    END LOOP;

    IF taken > 0 THEN
      INSERT INTO hold (account_id, id, amount, owner, expires_at, process_id)
        SELECT p_account, a.id, a.amount, a.owner, a.expires_at, p_process
          FROM unnest(p_ids, p_amounts, p_owners, p_expires, outcomes) a (id, amount, owner, expires_at, outcome)
         WHERE a.outcome = 'new';
      UPDATE account SET held = held + taken WHERE id = p_account;
    END IF;
    RETURN array_replace(outcomes, 'new', 'held');
  END $$;`;

/**
 * Settles each hold that has a charge and releases each that has none. Returns one outcome per hold, in order: done (also when
 * it was done before), conflict (resolved in another way), excess (the charge is above the hold), missing (no such hold to
 * settle). The release of a hold that never arrived is recorded, so that a late request cannot open that hold.
 */
const RESOLVE = `
  CREATE FUNCTION ledger_resolve(p_account uuid, p_ids uuid[], p_charges bigint[])
  RETURNS text[] LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    balance bigint;
    freed bigint;
    charged bigint;
    resolutions int;
    outcomes text[];
  BEGIN
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN array_fill('missing'::text, ARRAY[cardinality(p_ids)]);
    END IF;

    -- Of several resolutions of one hold in the batch the first that fits it counts.
    WITH asked AS (
      SELECT DISTINCT ON (h.row) h.row, a.charge, a.ord
        FROM unnest(p_ids, p_charges) WITH ORDINALITY a (id, charge, ord),
             LATERAL (SELECT ctid AS row, amount FROM hold
                       WHERE account_id = p_account AND id = a.id AND state = 'open' OFFSET 0) h
       WHERE a.charge IS NULL OR a.charge <= h.amount
       ORDER BY h.row, a.ord
    ), resolved AS (
      UPDATE hold h
         SET state = CASE WHEN a.charge IS NULL THEN 'released' ELSE 'settled' END,
             settled_amount = a.charge, resolved_at = now()
        FROM asked a
       WHERE h.ctid = a.row
      RETURNING h.id, h.amount, h.settled_amount AS charge, a.ord
    ), charges AS (
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after)
      SELECT p_account, id, 'charge', -charge, balance - sum(charge) OVER (ORDER BY ord)
        FROM resolved WHERE charge > 0 ORDER BY ord
    )
    SELECT coalesce(sum(amount), 0), coalesce(sum(charge), 0), count(*) INTO freed, charged, resolutions FROM resolved;

    IF freed > 0 THEN
      UPDATE account SET held = held - freed, posted = posted - charged WHERE id = p_account;
    END IF;

    IF resolutions = cardinality(p_ids) THEN
      RETURN array_fill('done'::text, ARRAY[resolutions]);
    END IF;

    SELECT array_agg(CASE WHEN h.id IS NULL THEN CASE WHEN a.charge IS NULL THEN 'absent' ELSE 'missing' END
                          WHEN h.state = 'open' THEN 'excess'
                          WHEN h.settled_amount IS NOT DISTINCT FROM a.charge THEN 'done'
                          ELSE 'conflict' END ORDER BY a.ord)
      INTO outcomes
      FROM unnest(p_ids, p_charges) WITH ORDINALITY a (id, charge, ord)
      LEFT JOIN LATERAL (SELECT * FROM hold WHERE account_id = p_account AND id = a.id OFFSET 0) h ON true;

    IF 'absent' = ANY (outcomes) THEN
      INSERT INTO hold (account_id, id, amount, state, owner, resolved_at)
        SELECT p_account, a.id, 0, 'released', 'cancelled', now()
          FROM unnest(p_ids, outcomes) a (id, outcome) WHERE a.outcome = 'absent'
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN array_replace(outcomes, 'absent', 'done');
  END $$;`;

/**
 * Adds one entry without a hold; a negative amount is taken from the available balance. Outcomes: credited (also when the same
 * key and amount was credited before), conflict (the key has another amount), overdrawn, missing. `entry` is the position of
 * the entry, null unless credited.
 */
const CREDIT = `
  CREATE FUNCTION ledger_credit(
    p_account uuid, p_amount bigint, p_kind text, p_key text, p_reference text, OUT outcome text, OUT entry bigint
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    balance bigint;
    free bigint;
    known bigint;
  BEGIN
    SELECT posted, posted - held INTO balance, free FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      outcome := 'missing';
      RETURN;
    END IF;

    SELECT position, amount INTO entry, known FROM ledger_entry WHERE account_id = p_account AND idempotency_key = p_key;
    IF FOUND THEN
      outcome := CASE WHEN known = p_amount THEN 'credited' ELSE 'conflict' END;
    ELSIF free + p_amount < 0 THEN
      outcome := 'overdrawn';
    ELSE
      UPDATE account SET posted = posted + p_amount WHERE id = p_account;
      INSERT INTO ledger_entry (account_id, kind, amount, balance_after, reference, idempotency_key)
        VALUES (p_account, p_kind, p_amount, balance + p_amount, p_reference, p_key)
        RETURNING position INTO entry;
      outcome := 'credited';
    END IF;
  END $$;`;
