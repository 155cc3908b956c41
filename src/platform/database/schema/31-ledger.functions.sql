-- The functions that move money. Each first locks the row of the account, and writes the entries before the balance: the trigger
-- of the account that follows credits which were granted or expire reads them. A session plans each statement once, perhaps while
-- the tables are empty, and no plan may read all holds or entries of an account: hence the settings of the planner here and in
-- the files below.

-- Entries are append-only.
CREATE OR REPLACE FUNCTION ledger_entry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Whether the account has moved to another cell: then nothing here may make up for its calls. False while it only moves.
CREATE OR REPLACE FUNCTION account_has_left(p_account uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM account a WHERE a.id = p_account AND a.leaving IS NOT NULL
     AND NOT EXISTS (SELECT FROM account_move m WHERE m.account_id = a.id AND m.outcome IS NULL))
$$;

-- Entries are deleted only with all that an account leaves behind: another cell has it.
CREATE OR REPLACE FUNCTION ledger_entry_refuse_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM account a JOIN account_move m ON m.account_id = a.id AND m.direction = 'out' AND m.outcome = 'imported'
     WHERE a.id = OLD.account_id AND a.leaving IS NOT NULL
       AND NOT EXISTS (SELECT FROM account_move o WHERE o.account_id = a.id AND o.outcome IS NULL)
  ) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
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

-- Adds one entry without a hold: a credit, or with a negative amount a correction that is taken from what may be spent; p_reason is of a
-- correction. The terms are those of a credit, all null for a correction; p_credit_kind is paid or granted, p_expires null for a credit that never
-- expires. Outcomes: credited (also when the same key, amount and terms were credited before), conflict (the key has another
-- amount), other_terms (the key has other terms), overdrawn, over (it would expire at once), crowded (the account has p_most_lots
-- unspent credits that were granted or expire), missing (no such account). `entry` is the position of the entry, null unless
-- credited.
CREATE OR REPLACE FUNCTION ledger_credit_v2(
  p_account uuid, p_amount bigint, p_key text, p_reference text, p_reason text, p_credit_kind text, p_expires timestamptz,
  p_payment_reference text, p_currency text, p_tax bigint, p_most_lots integer, OUT outcome text, OUT entry bigint
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  balance bigint;
  free bigint;
  known ledger_entry;
  has_lot boolean := coalesce(p_credit_kind = 'granted', false) OR p_expires IS NOT NULL;
BEGIN
  SELECT posted, posted - held INTO balance, free FROM account WHERE id = p_account FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    outcome := 'missing';
    RETURN;
  END IF;

  SELECT * INTO known FROM ledger_entry WHERE account_id = p_account AND idempotency_key = p_key;
  IF FOUND THEN
    entry := known.position;
    outcome := CASE
      WHEN known.amount <> p_amount THEN 'conflict'
      WHEN coalesce(known.credit_kind, 'paid') = coalesce(p_credit_kind, 'paid')
       AND (known.expires_at, known.payment_reference, known.currency, known.tax)
           IS NOT DISTINCT FROM (p_expires, p_payment_reference, p_currency, p_tax) THEN 'credited'
      ELSE 'other_terms' END;
  ELSIF free + p_amount < 0 THEN
    outcome := 'overdrawn';
  ELSIF p_expires <= clock_timestamp() THEN
    outcome := 'over';
  ELSIF has_lot AND (SELECT count(*) FROM credit_lot WHERE account_id = p_account AND NOT is_empty) >= p_most_lots THEN
    outcome := 'crowded';
  ELSE
    INSERT INTO ledger_entry (account_id, kind, amount, balance_after, reference, idempotency_key, reason, credit_kind,
                              expires_at, payment_reference, currency, tax)
      VALUES (p_account, CASE WHEN p_amount > 0 THEN 'credit' ELSE 'correction' END, p_amount, balance + p_amount, p_reference,
              p_key, p_reason, p_credit_kind, p_expires, p_payment_reference, p_currency, p_tax)
      RETURNING position INTO entry;
    UPDATE account
       SET posted = posted + p_amount, in_lots = CASE WHEN has_lot THEN coalesce(in_lots, 0) ELSE in_lots END
     WHERE id = p_account;
    outcome := 'credited';
  END IF;
END $$;

-- As version 0.1.0 calls it, whose processes may run beside this version: credits are paid and never expire. p_kind follows from the
-- amount.
CREATE OR REPLACE FUNCTION ledger_credit(
  p_account uuid, p_amount bigint, p_kind text, p_key text, p_reference text, OUT outcome text, OUT entry bigint
) LANGUAGE plpgsql SET jit = off AS $$
BEGIN
  SELECT c.outcome, c.entry INTO outcome, entry
    FROM ledger_credit_v2(p_account, p_amount, p_key, p_reference, NULL, CASE WHEN p_amount > 0 THEN 'paid' END, NULL,
                          NULL, NULL, NULL, 0) c;
  IF outcome = 'other_terms' THEN
    outcome := 'conflict';
  END IF;
END $$;

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
  IF p_charge > 0 THEN
    INSERT INTO ledger_entry (account_id, id, hold_id, owner, kind, amount, balance_after)
      VALUES (p_account, p_id, p_id, known.owner, 'charge', -p_charge, balance - p_charge);
  END IF;
  UPDATE account SET held = held - known.amount, posted = posted - coalesce(p_charge, 0) WHERE id = p_account;
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
    INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference, refund_key, reason)
      SELECT p_account, p_id, 'correction', given, posted + given, p_note, p_key, p_reason FROM account WHERE id = p_account
      RETURNING position INTO entry;
    UPDATE account SET posted = posted + given WHERE id = p_account;
    outcome := 'refunded';
    is_new := true;
  END IF;
END $$;
