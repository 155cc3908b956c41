-- The functions that move money. Each first locks the row of the account. A session plans each statement once, perhaps while
-- the tables are empty, and no plan may read all holds or entries of an account: hence the settings of the planner here and in
-- the files below.

-- Entries are append-only.
CREATE OR REPLACE FUNCTION ledger_entry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'ledger_entry is append-only' USING ERRCODE = 'restrict_violation';
END $$;

-- A settled or released hold can be changed by nobody.
CREATE OR REPLACE FUNCTION hold_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a resolved hold is final' USING ERRCODE = 'restrict_violation';
END $$;

-- What is left of the charge of a call or task: the charge less its corrections; 0 if it was never charged.
CREATE OR REPLACE FUNCTION charge_rest(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  RETURN coalesce((SELECT -amount FROM ledger_entry WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge'), 0)
    - coalesce((SELECT sum(amount) FROM ledger_entry
                 WHERE account_id = p_account AND hold_id = p_id AND kind = 'correction' AND hold_id IS NOT NULL), 0);
END $$;

-- The corrections of a call or task are together at most its charge, however they are written. Whoever writes one has locked
-- the account, so no two are written at once.
CREATE OR REPLACE FUNCTION ledger_entry_refuse_excess() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  rest bigint := charge_rest(NEW.account_id, NEW.hold_id);
BEGIN
  IF NEW.amount NOT BETWEEN 1 AND rest THEN
    RAISE EXCEPTION 'of the charge of % are % left', NEW.hold_id, rest USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

-- Adds one entry without a hold; a negative amount is taken from what may be spent. Outcomes: credited (also when the same key
-- and amount was credited before), conflict (the key has another amount), overdrawn, missing (no such account). `entry` is the
-- position of the entry, null unless credited.
CREATE OR REPLACE FUNCTION ledger_credit_v2(
  p_account uuid, p_amount bigint, p_kind text, p_key text, p_reference text, p_reason text, OUT outcome text,
  OUT entry bigint
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
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
    INSERT INTO ledger_entry (account_id, kind, amount, balance_after, reference, idempotency_key, reason)
      VALUES (p_account, p_kind, p_amount, balance + p_amount, p_reference, p_key, p_reason)
      RETURNING position INTO entry;
    outcome := 'credited';
  END IF;
END $$;

-- As processes of version 0.1.0 call it.
CREATE OR REPLACE FUNCTION ledger_credit(
  p_account uuid, p_amount bigint, p_kind text, p_key text, p_reference text, OUT outcome text, OUT entry bigint
) LANGUAGE sql AS $$
  SELECT * FROM ledger_credit_v2(p_account, p_amount, p_kind, p_key, p_reference, NULL);
$$;

-- Holds an amount for a task. Outcomes: held (also when the same hold is open already), conflict (the id was used for another
-- hold), insufficient, missing (no such account).
CREATE OR REPLACE FUNCTION ledger_hold(p_account uuid, p_id uuid, p_amount bigint, p_owner text) RETURNS text LANGUAGE plpgsql
  SET jit = off AS $$
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

-- Settles an open hold, or releases it where the charge is null. Releasing a hold that never arrived records it as released,
-- so that a hold still under way can never open. The entry of the charge takes the owner of the hold. Outcomes: done (also
-- when it was done before), conflict (resolved in another way), excess (the charge is above the hold), missing (no such
-- account, or no such hold to settle).
CREATE OR REPLACE FUNCTION ledger_resolve(p_account uuid, p_id uuid, p_charge bigint) RETURNS text LANGUAGE plpgsql
  SET jit = off AS $$
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
    INSERT INTO ledger_entry (account_id, hold_id, owner, kind, amount, balance_after)
      VALUES (p_account, p_id, known.owner, 'charge', -p_charge, balance - p_charge);
  END IF;
  RETURN 'done';
END $$;

-- Gives back a part of a charge, or what is left of it (p_amount null); the account is locked. Outcomes: refunded (also when
-- the same key did it before), other_amount (the key gave another amount back), excess, spent (nothing is left), uncharged.
-- `entry` is the position of the entry, null unless refunded; `rest` is what was left before; `is_new` says whether the entry
-- was written now.
CREATE OR REPLACE FUNCTION charge_refund_v2(
  p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, p_reason text, OUT outcome text, OUT entry bigint,
  OUT rest bigint, OUT is_new boolean
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  given bigint;
  balance bigint;
BEGIN
  is_new := false;
  IF p_key IS NOT NULL THEN
    SELECT position, amount INTO entry, given FROM ledger_entry
     WHERE account_id = p_account AND hold_id = p_id AND refund_key = p_key AND kind = 'correction' AND hold_id IS NOT NULL;
    IF FOUND THEN
      outcome := CASE WHEN given = coalesce(p_amount, given) THEN 'refunded' ELSE 'other_amount' END;
      RETURN;
    END IF;
  END IF;
  rest := charge_rest(p_account, p_id);
  IF rest = 0 THEN
    PERFORM FROM ledger_entry WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge';
    outcome := CASE WHEN FOUND THEN 'spent' ELSE 'uncharged' END;
  ELSIF p_amount > rest THEN
    outcome := 'excess';
  ELSE
    given := coalesce(p_amount, rest);
    UPDATE account SET posted = posted + given WHERE id = p_account RETURNING posted INTO balance;
    INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference, refund_key, reason)
      VALUES (p_account, p_id, 'correction', given, balance, p_note, p_key, p_reason)
      RETURNING position INTO entry;
    outcome := 'refunded';
    is_new := true;
  END IF;
END $$;
