-- The kinds of money. What may be spent does not depend on them, so nothing that holds money reads them.
--
-- A charge takes money in this order: granted before paid, of a kind what expires first before the rest. A credit pays only for
-- calls and tasks that began before it expired. An operator's correction takes paid money first, and granted money in the opposite
-- order; as it takes only what is available, the granted money that running calls will spend stays. What is given back of a charge
-- returns to where that part of it came from, the last part first, as if the charge had been so much smaller.

-- Takes the amount of an entry out of the lots, and notes where it came from. p_in_lots is what the lots have before. Returns what
-- the lots have lost.
CREATE OR REPLACE FUNCTION lots_take(p_entry ledger_entry, p_in_lots bigint) RETURNS bigint LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  rest bigint := -p_entry.amount;
  began timestamptz := '-infinity';
  source record;
  part bigint;
  credits bigint[] := '{}';
  amounts bigint[] := '{}';
  granted bigint := 0;
  taken bigint := 0;
BEGIN
  IF p_entry.kind = 'charge' AND EXISTS (
    SELECT FROM credit_lot WHERE account_id = p_entry.account_id AND NOT is_empty AND expires_at <= now()
  ) THEN
    began := coalesce(
      (SELECT created_at FROM execution WHERE account_id = p_entry.account_id AND id = p_entry.hold_id),
      (SELECT created_at FROM hold WHERE account_id = p_entry.account_id AND id = p_entry.hold_id), now());
  END IF;
  FOR source IN
    SELECT s.position, s.is_granted, s.room
      FROM (SELECT l.position, l.is_granted, l.remaining AS room,
                   CASE WHEN p_entry.kind = 'correction' OR l.expires_at <= began THEN 3 ELSE 1 END AS turn,
                   row_number() OVER (ORDER BY l.is_granted DESC, l.expires_at, l.position)
                     * CASE p_entry.kind WHEN 'correction' THEN -1 ELSE 1 END AS nth
              FROM credit_lot l
             WHERE l.account_id = p_entry.account_id AND NOT l.is_empty
               AND (p_entry.credit_position IS NULL OR l.position = p_entry.credit_position)
            UNION ALL
            SELECT NULL, false, p_entry.balance_after - p_entry.amount - p_in_lots, 2, 0
             WHERE p_entry.credit_position IS NULL) s
     ORDER BY s.turn, s.nth
  LOOP
    EXIT WHEN rest = 0;
    part := least(rest, source.room);
    CONTINUE WHEN part <= 0;
    rest := rest - part;
    credits := credits || source.position;
    amounts := amounts || part;
    IF source.position IS NOT NULL THEN
      UPDATE credit_lot SET remaining = remaining - part, is_empty = remaining = part
       WHERE account_id = p_entry.account_id AND position = source.position;
      taken := taken + part;
      granted := granted + CASE WHEN source.is_granted THEN part ELSE 0 END;
    END IF;
  END LOOP;
  IF rest > 0 THEN
    RAISE EXCEPTION 'the credits of account % lack % for entry %', p_entry.account_id, rest, p_entry.position;
  END IF;
  IF taken > 0 THEN
    INSERT INTO ledger_entry_source (account_id, position, credits, amounts, granted)
      VALUES (p_entry.account_id, p_entry.position, credits, amounts, -granted);
  END IF;
  RETURN taken;
END $$;

-- Returns what an entry gives back of a charge to the lots that it came from, and notes it. A lot that has expired takes it too: the
-- next look expires it again. Returns what the lots have gained.
CREATE OR REPLACE FUNCTION lots_return(p_entry ledger_entry) RETURNS bigint LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  charge ledger_entry_source;
  earlier bigint;
  rest bigint := p_entry.amount;
  skipped bigint;
  part bigint;
  credits bigint[] := '{}';
  amounts bigint[] := '{}';
  granted bigint := 0;
  is_granted_lot boolean;
BEGIN
  SELECT s.* INTO charge
    FROM ledger_entry e JOIN ledger_entry_source s ON s.account_id = e.account_id AND s.position = e.position
   WHERE e.account_id = p_entry.account_id AND e.hold_id = p_entry.hold_id AND e.kind = 'charge';
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  earlier := coalesce((
    SELECT sum(amount) FROM ledger_entry
     WHERE account_id = p_entry.account_id AND hold_id = p_entry.hold_id AND kind = 'correction' AND hold_id IS NOT NULL
       AND position < p_entry.position), 0);
  FOR i IN REVERSE cardinality(charge.credits) .. 1 LOOP
    skipped := least(earlier, charge.amounts[i]);
    earlier := earlier - skipped;
    part := least(rest, charge.amounts[i] - skipped);
    CONTINUE WHEN part = 0;
    rest := rest - part;
    credits := credits || charge.credits[i];
    amounts := amounts || part;
    IF charge.credits[i] IS NOT NULL THEN
      UPDATE credit_lot SET remaining = remaining + part, is_empty = false, look_at = expires_at
       WHERE account_id = p_entry.account_id AND position = charge.credits[i]
       RETURNING is_granted INTO STRICT is_granted_lot;
      granted := granted + CASE WHEN is_granted_lot THEN part ELSE 0 END;
    END IF;
  END LOOP;
  INSERT INTO ledger_entry_source (account_id, position, credits, amounts, granted)
    VALUES (p_entry.account_id, p_entry.position, credits, amounts, granted);
  RETURN (SELECT coalesce(sum(u.amount), 0) FROM unnest(credits, amounts) u (credit, amount) WHERE u.credit IS NOT NULL);
END $$;

-- Before the balance of an account with money in lots changes, or a former one gains money: follows the entries that it changes by,
-- which are written before. What is spent while nothing is in lots is passed over.
CREATE OR REPLACE FUNCTION account_follow_lots() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  entry ledger_entry;
  moved bigint := 0;
BEGIN
  IF (OLD.in_lots > 0 OR (NEW.in_lots = 0 AND NEW.posted > OLD.posted)) IS NOT TRUE THEN
    RETURN NEW;
  END IF;
  IF coalesce(OLD.in_lots, 0) = 0 THEN
    NEW.lots_until := (SELECT max(position) - 1 FROM ledger_entry WHERE account_id = NEW.id);
  END IF;
  FOR entry IN SELECT * FROM ledger_entry WHERE account_id = NEW.id AND position > NEW.lots_until ORDER BY position LOOP
    moved := moved + entry.amount;
    NEW.lots_until := entry.position;
    IF entry.kind = 'credit' AND (entry.credit_kind = 'granted' OR entry.expires_at IS NOT NULL) THEN
      INSERT INTO credit_lot (account_id, position, is_granted, amount, expires_at, remaining, look_at)
        VALUES (NEW.id, entry.position, entry.credit_kind = 'granted', entry.amount, entry.expires_at, entry.amount,
                entry.expires_at);
      NEW.in_lots := NEW.in_lots + entry.amount;
    ELSIF entry.amount < 0 THEN
      NEW.in_lots := NEW.in_lots - lots_take(entry, NEW.in_lots);
    ELSIF entry.hold_id IS NOT NULL THEN
      NEW.in_lots := NEW.in_lots + lots_return(entry);
    END IF;
  END LOOP;
  IF moved <> NEW.posted - OLD.posted THEN
    RAISE EXCEPTION 'the balance of account % changes by %, its new entries are %', NEW.id, NEW.posted - OLD.posted, moved;
  END IF;
  RETURN NEW;
END $$;

-- The accounts of which something may have expired, the longest due first; for p_look_ms no other process is told of them.
CREATE OR REPLACE FUNCTION lots_claim(p_limit integer, p_look_ms integer) RETURNS SETOF uuid LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  RETURN QUERY
  WITH due AS MATERIALIZED (
    SELECT account_id, position FROM credit_lot WHERE NOT is_empty AND look_at IS NOT NULL AND look_at <= now()
     ORDER BY look_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE credit_lot l SET look_at = now() + p_look_ms * interval '1 millisecond'
      FROM due WHERE l.account_id = due.account_id AND l.position = due.position
    RETURNING l.account_id)
  SELECT DISTINCT c.account_id FROM claimed c ORDER BY 1;
END $$;

-- Expires what is left of the credits of an account whose time is over, but for what calls and tasks will spend that began before and
-- still run. Those are taken to spend as a charge does, the oldest first. What they leave expires at a later look. Each expiry is an
-- entry. Returns how many were written.
--
-- Nothing lists the open holds of an account, so what began since is taken from what is held in all: the calls that a sweep has noted,
-- and those after it, by time; open tasks by their states. Whatever is in neither counts as older, so that nothing expires too early.
CREATE OR REPLACE FUNCTION lots_expire(p_account uuid) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  balance bigint;
  all_held bigint;
  free bigint;
  since timestamptz;
  looked timestamptz;
  began timestamptz[] := '{}';
  amounts bigint[] := '{}';
  lot record;
  older bigint;
  kept bigint;
  kept_before bigint := 0;
  gone bigint;
  written int := 0;
BEGIN
  SELECT posted, held, posted - held INTO balance, all_held, free FROM account WHERE id = p_account FOR NO KEY UPDATE;
  since := (SELECT min(expires_at) FROM credit_lot WHERE account_id = p_account AND NOT is_empty AND expires_at <= now());
  IF since IS NULL THEN
    RETURN 0;
  END IF;
  IF all_held > 0 THEN
    looked := (SELECT looked_until FROM call_look);
    SELECT coalesce(array_agg(n.created_at), '{}'), coalesce(array_agg(n.amount), '{}') INTO began, amounts FROM (
      SELECT e.created_at, e.held AS amount
        FROM open_call o CROSS JOIN LATERAL (
          SELECT x.created_at, x.held, x.status FROM execution x
           WHERE x.account_id = o.account_id AND x.id = o.id OFFSET 0) e
       WHERE o.account_id = p_account AND e.status = 'running' AND e.created_at >= since AND e.created_at <= looked
      UNION ALL
      SELECT f.created_at, f.held FROM (
        SELECT x.account_id, x.created_at, x.held FROM execution x
         WHERE x.created_at >= since AND x.created_at > looked AND x.status = 'running' OFFSET 0) f
       WHERE f.account_id = p_account
      UNION ALL
      SELECT h.created_at, h.amount
        FROM task t CROSS JOIN LATERAL (
          SELECT x.created_at, x.amount, x.state FROM hold x WHERE x.account_id = t.account_id AND x.id = t.id OFFSET 0) h
       WHERE t.account_id = p_account AND t.status IN ('queued', 'processing', 'reconciliation_required')
         AND h.state = 'open' AND h.created_at >= since) n;
  END IF;
  FOR lot IN
    SELECT position, expires_at, remaining, coalesce(expires_at <= now(), false) AS is_over FROM credit_lot
     WHERE account_id = p_account AND NOT is_empty ORDER BY is_granted DESC, expires_at, position
  LOOP
    older := all_held - CASE WHEN lot.is_over THEN coalesce((
      SELECT sum(n.amount) FROM unnest(began, amounts) n (began, amount) WHERE n.began >= lot.expires_at), 0) ELSE 0 END;
    kept := least(lot.remaining, greatest(0, older - kept_before));
    kept_before := kept_before + kept;
    gone := least(lot.remaining - kept, free);
    CONTINUE WHEN NOT lot.is_over OR gone <= 0;
    balance := balance - gone;
    free := free - gone;
    INSERT INTO ledger_entry (account_id, kind, amount, balance_after, credit_position)
      VALUES (p_account, 'expiry', -gone, balance, lot.position);
    UPDATE account SET posted = balance WHERE id = p_account;
    written := written + 1;
  END LOOP;
  RETURN written;
END $$;
