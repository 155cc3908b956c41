-- What keys may still spend. No plan may read all calls, even if it was made while the tables were empty.

-- The start of the period that a time belongs to; total is one period without a start.
CREATE OR REPLACE FUNCTION key_period_start(p_period text, p_at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_period = 'total' THEN '-infinity'::timestamptz ELSE date_trunc(p_period, p_at, 'UTC') END;
$$;

-- An id that is smaller than those of all calls and tasks since a time. Ids begin with a time; clocks may differ by an hour.
CREATE OR REPLACE FUNCTION first_id_since(p_from timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_from > '-infinity'
    THEN (lpad(to_hex(((extract(epoch FROM p_from) - 3600) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
    ELSE '00000000-0000-0000-0000-000000000000' END;
$$;

-- The calls and tasks of a key that usage_day does not count yet: what each costs, less what was refunded, or holds, and
-- whether it is still open. A task that was delivered late counts as it first ended; its charge is a row of its own, at the time at
-- which it was made, as in usage.
CREATE OR REPLACE FUNCTION key_unfolded(p_account uuid, p_key uuid)
RETURNS TABLE(is_task boolean, id uuid, created_at timestamptz, amount bigint, is_open boolean) LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
#variable_conflict use_column
DECLARE
  folded timestamptz := (SELECT folded_until FROM usage_state);
  first uuid := first_id_since(folded);
BEGIN
  RETURN QUERY
  SELECT false, e.id, e.created_at,
         CASE e.status WHEN 'running' THEN e.held WHEN 'succeeded' THEN e.charged - coalesce(e.refunded, 0) ELSE 0 END,
         e.status = 'running'
    FROM (SELECT * FROM execution x
           WHERE x.api_key_id = p_key AND x.id >= first AND x.account_id = p_account AND x.created_at > folded
          UNION ALL
          SELECT x.* FROM usage_pending p
           CROSS JOIN LATERAL (SELECT * FROM execution y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
           WHERE p.account_id = p_account AND x.api_key_id = p_key) e
  UNION ALL
  SELECT true, t.id, t.created_at,
         CASE WHEN t.delivered_late OR t.status IN ('failed', 'expired') THEN 0
              WHEN t.status = 'succeeded' THEN t.charged - coalesce(t.refunded, 0) ELSE t.reserved END,
         t.status IN ('queued', 'processing', 'reconciliation_required')
    FROM (SELECT * FROM task x
           WHERE x.account_id = p_account AND x.id >= first AND x.api_key_id = p_key AND x.created_at > folded
          UNION ALL
          SELECT x.* FROM usage_pending p
           CROSS JOIN LATERAL (SELECT * FROM task y WHERE y.account_id = p.account_id AND y.id = p.id OFFSET 0) x
           WHERE p.account_id = p_account AND x.api_key_id = p_key) t
  UNION ALL
  SELECT true, p.id, p.charged_at,
         p.charged - coalesce((SELECT x.refunded FROM task x WHERE x.account_id = p_account AND x.id = p.id), 0), false
    FROM late_charge p WHERE p.charged_at > folded AND p.account_id = p_account AND p.api_key_id = p_key;
END $$;

-- What a key has spent since the start of a period, and holds, and what it took over of that period. Sums of usage count on
-- the day on which a call ended, less what was given back. Calls that are not in the sums count on the day on which they
-- began.
CREATE OR REPLACE FUNCTION key_spent(p_account uuid, p_key uuid, p_from timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  RETURN (
    SELECT coalesce(sum(charged + given_back), 0) FROM usage_day
     WHERE account_id = p_account AND api_key_id = p_key
       AND day >= CASE WHEN p_from > '-infinity' THEN (p_from AT TIME ZONE 'UTC')::date ELSE '-infinity' END)
  + (SELECT coalesce(sum(amount), 0) FROM key_unfolded(p_account, p_key) WHERE created_at >= p_from)
  + coalesce((SELECT CASE p_from WHEN '-infinity' THEN total_spent WHEN month_start THEN month_spent
                                 WHEN day_start THEN day_spent END
                FROM key_inherited WHERE account_id = p_account AND api_key_id = p_key), 0);
END $$;

-- What a key may still spend; the account is locked. `room` is null for a key without a limit; `counts_in` is the period to
-- which new calls are counted, null while their sum is still read from the calls.
--
-- A limit that is set on a used key is exact at once. Processes learn of it within 2 s, so for 3 s the sum is read from the
-- calls themselves, and then once more to begin the counter. That sum comes from usage and reads only what is not in it yet,
-- so that setting a limit on a key with millions of calls holds the lock of the account for milliseconds.
CREATE OR REPLACE FUNCTION key_room_of_any(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamptz)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  terms record;
  known key_spend;
  start timestamptz;
  total bigint;
  open_calls uuid[];
  open_tasks uuid[];
  locked_tasks int;
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
  SELECT coalesce(array_agg(id) FILTER (WHERE is_task), '{}'), coalesce(array_agg(id) FILTER (WHERE NOT is_task), '{}')
    INTO open_tasks, open_calls FROM key_unfolded(p_account, p_key) WHERE is_open AND created_at >= start;
  -- Whoever ends a task has its row and waits for the account: the counter begins with a later call then.
  SELECT count(*) INTO locked_tasks FROM (
    SELECT FROM task WHERE account_id = p_account AND id = ANY (open_tasks) FOR NO KEY UPDATE SKIP LOCKED) t;
  IF locked_tasks < cardinality(open_tasks) THEN
    RETURN;
  END IF;
  UPDATE task SET spend_period = start WHERE account_id = p_account AND id = ANY (open_tasks);
  UPDATE execution SET spend_period = start WHERE account_id = p_account AND id = ANY (open_calls) AND status = 'running';
  INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
    VALUES (p_account, p_key, terms.period, start, total, clock_timestamp())
    ON CONFLICT (account_id, api_key_id) DO UPDATE
      SET period = excluded.period, period_start = excluded.period_start, spent = excluded.spent,
          begun_at = excluded.begun_at;
  counts_in := start;
END $$;

-- What the keys that a key made spent and hold since the start of a period that is not over.
CREATE OR REPLACE FUNCTION maker_spent(p_account uuid, p_maker uuid, p_from timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN coalesce((
    SELECT CASE p_from WHEN '-infinity' THEN total_spent WHEN month_start THEN month_spent WHEN day_start THEN day_spent END
      FROM maker_spend WHERE account_id = p_account AND api_key_id = p_maker), 0);
END $$;

-- As key_room_of_any, less what the keys that it made spent. A key that has ended has nothing left to spend: processes learn of
-- its end within 2 s, and until then its calls would count beside those of its successor.
CREATE OR REPLACE FUNCTION key_room(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamptz) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  key record;
BEGIN
  SELECT r.room, r.counts_in INTO room, counts_in FROM key_room_of_any(p_account, p_key) r;
  IF room > 0 THEN
    SELECT revoked_at IS NOT NULL OR coalesce(expires_at <= clock_timestamp(), false) AS is_over,
           key_period_start(spend_limit_period, clock_timestamp()) AS start
      INTO key FROM api_key WHERE id = p_key;
    room := CASE WHEN key.is_over THEN 0 ELSE room - maker_spent(p_account, p_key, key.start) END;
  END IF;
END $$;

-- Counts what a key holds or spends for the key that made it. p_counted_at is when the call or task was first counted; the account
-- is locked since then, so no later day or month can have begun before it.
CREATE OR REPLACE FUNCTION maker_note_spend(p_account uuid, p_key uuid, p_counted_at timestamptz, p_amount bigint)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  maker uuid;
BEGIN
  IF p_amount = 0 THEN
    RETURN;
  END IF;
  PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
  SELECT maker_id INTO maker FROM api_key WHERE id = p_key;
  IF maker IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO maker_spend AS s (account_id, api_key_id, day_start, day_spent, month_start, month_spent, total_spent)
    VALUES (p_account, maker, key_period_start('day', p_counted_at), p_amount, key_period_start('month', p_counted_at), p_amount,
            p_amount)
  ON CONFLICT (account_id, api_key_id) DO UPDATE
    SET day_spent = CASE WHEN excluded.day_start > s.day_start THEN p_amount
                         WHEN excluded.day_start = s.day_start THEN s.day_spent + p_amount ELSE s.day_spent END,
        day_start = greatest(s.day_start, excluded.day_start),
        month_spent = CASE WHEN excluded.month_start > s.month_start THEN p_amount
                           WHEN excluded.month_start = s.month_start THEN s.month_spent + p_amount ELSE s.month_spent END,
        month_start = greatest(s.month_start, excluded.month_start),
        total_spent = s.total_spent + p_amount;
END $$;

-- The successor of a maker takes over what the keys spent that are its own now; the account is locked. What they spent stays counted
-- for the former maker too, as in key_pass_on.
CREATE OR REPLACE FUNCTION maker_pass_on(p_account uuid, p_key uuid, p_successor uuid) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  INSERT INTO maker_spend (account_id, api_key_id, day_start, day_spent, month_start, month_spent, total_spent)
    SELECT account_id, p_successor, day_start, day_spent, month_start, month_spent, total_spent
      FROM maker_spend WHERE account_id = p_account AND api_key_id = p_key;
END $$;

-- Adds to the counter of a key, if it counts in that period.
CREATE OR REPLACE FUNCTION key_note_spend(p_account uuid, p_key uuid, p_period_start timestamptz, p_amount bigint)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  IF p_amount <> 0 THEN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    UPDATE key_spend SET spent = spent + p_amount
     WHERE account_id = p_account AND api_key_id = p_key AND period_start = p_period_start;
  END IF;
END $$;

-- Adds to what keys took over and to their counters, for a call or task that began at p_created.
CREATE OR REPLACE FUNCTION key_note_heirs(p_account uuid, p_heirs uuid[], p_created timestamptz, p_amount bigint)
RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  UPDATE key_inherited
     SET day_spent = day_spent + CASE WHEN p_created >= day_start THEN p_amount ELSE 0 END,
         month_spent = month_spent + CASE WHEN p_created >= month_start THEN p_amount ELSE 0 END,
         total_spent = total_spent + p_amount
   WHERE account_id = p_account AND api_key_id = ANY (p_heirs);
  UPDATE key_spend SET spent = spent + p_amount
   WHERE account_id = p_account AND api_key_id = ANY (p_heirs) AND p_created >= period_start;
END $$;

-- The end of a call or task that was open when its key was rotated changes what the successors took over by p_amount.
CREATE OR REPLACE FUNCTION key_note_carried(p_account uuid, p_id uuid, p_created timestamptz, p_amount bigint)
RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  heirs uuid[];
BEGIN
  IF p_amount <> 0 THEN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    SELECT array_agg(api_key_id) INTO heirs FROM key_spend_carried WHERE account_id = p_account AND id = p_id;
    IF heirs IS NOT NULL THEN
      PERFORM key_note_heirs(p_account, heirs, p_created, p_amount);
    END IF;
  END IF;
END $$;

-- A task of a key is charged although it had failed or expired: notes the keys that took over from that key, and from each other, as
-- those for whom it counts too. Those that took over after its first end have nothing of it.
CREATE OR REPLACE FUNCTION key_carry_late(p_account uuid, p_key uuid, p_id uuid) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
BEGIN
  PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
  INSERT INTO key_spend_carried (account_id, id, api_key_id, begun_at)
    WITH RECURSIVE heir AS (
      SELECT i.api_key_id FROM key_inherited i WHERE i.account_id = p_account AND i.from_key_id = p_key
      UNION
      SELECT i.api_key_id FROM heir h JOIN key_inherited i ON i.account_id = p_account AND i.from_key_id = h.api_key_id
    )
    SELECT p_account, p_id, api_key_id, clock_timestamp() FROM heir
    ON CONFLICT DO NOTHING;
END $$;

-- Frees a part of a charge in the limits of its key and of the keys that took it over: those made after it was charged, or
-- while the call was open. Where a period began between the call and its charge, nothing is freed in it.
CREATE OR REPLACE FUNCTION key_give_back(
  p_account uuid, p_key uuid, p_id uuid, p_created timestamptz, p_charged timestamptz, p_amount bigint
) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  heirs uuid[];
BEGIN
  IF p_amount <> 0 THEN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    WITH RECURSIVE heir AS (
      SELECT i.api_key_id FROM key_inherited i
       WHERE i.account_id = p_account AND i.from_key_id = p_key
         AND (i.at > p_charged OR EXISTS (
           SELECT FROM key_spend_carried c
            WHERE c.account_id = p_account AND c.id = p_id AND c.api_key_id = i.api_key_id))
      UNION
      SELECT i.api_key_id FROM heir h JOIN key_inherited i ON i.account_id = p_account AND i.from_key_id = h.api_key_id
    )
    SELECT array_agg(api_key_id) INTO heirs FROM heir;
    UPDATE key_spend SET spent = spent - p_amount
     WHERE account_id = p_account AND api_key_id = p_key AND p_created >= period_start;
    IF heirs IS NOT NULL THEN
      PERFORM key_note_heirs(p_account, heirs, p_created, -p_amount);
    END IF;
  END IF;
END $$;

-- Counts the change of a call: what it holds while it runs, what it cost less what was refunded once it succeeded. Runs after
-- each update of a call that counts.
CREATE OR REPLACE FUNCTION execution_note_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counts bigint := CASE NEW.status WHEN 'running' THEN NEW.held
                           WHEN 'succeeded' THEN NEW.charged - coalesce(NEW.refunded, 0) ELSE 0 END;
  counted bigint := CASE OLD.status WHEN 'running' THEN OLD.held
                           WHEN 'succeeded' THEN OLD.charged - coalesce(OLD.refunded, 0) ELSE 0 END;
BEGIN
  IF OLD.status = 'succeeded' THEN
    PERFORM key_give_back(NEW.account_id, NEW.api_key_id, NEW.id, NEW.created_at, NEW.completed_at, counted - counts);
  ELSE
    PERFORM key_note_carried(NEW.account_id, NEW.id, NEW.created_at, counts - counted);
    PERFORM key_note_spend(NEW.account_id, NEW.api_key_id, NEW.spend_period,
      counts - CASE WHEN OLD.spend_period = NEW.spend_period THEN counted ELSE 0 END);
  END IF;
  RETURN NULL;
END $$;

-- The same for a task. What it reserves counts until its outcome is known; after a failure it counts again if it is delivered late.
CREATE OR REPLACE FUNCTION task_note_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counts bigint := CASE WHEN NEW.status = 'succeeded' THEN NEW.charged - coalesce(NEW.refunded, 0)
                           WHEN NEW.status IN ('failed', 'expired') THEN 0 ELSE NEW.reserved END;
  counted bigint := CASE WHEN OLD.status = 'succeeded' THEN OLD.charged - coalesce(OLD.refunded, 0)
                           WHEN OLD.status IN ('failed', 'expired') THEN 0 ELSE OLD.reserved END;
BEGIN
  IF OLD.status = 'succeeded' THEN
    PERFORM key_give_back(NEW.account_id, NEW.api_key_id, NEW.id, NEW.created_at, NEW.completed_at, counted - counts);
  ELSE
    IF OLD.status IN ('failed', 'expired') AND counts > 0 THEN
      PERFORM key_carry_late(NEW.account_id, NEW.api_key_id, NEW.id);
    END IF;
    PERFORM key_note_carried(NEW.account_id, NEW.id, NEW.created_at, counts - counted);
    PERFORM key_note_spend(NEW.account_id, NEW.api_key_id, NEW.spend_period,
      counts - CASE WHEN OLD.spend_period = NEW.spend_period THEN counted ELSE 0 END);
  END IF;
  RETURN NULL;
END $$;

-- Counts the change of a call for the key that made its key, as execution_note_spend counts it for the key itself.
CREATE OR REPLACE FUNCTION execution_note_for_maker() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counts bigint := CASE NEW.status WHEN 'running' THEN NEW.held
                           WHEN 'succeeded' THEN NEW.charged - coalesce(NEW.refunded, 0) ELSE 0 END;
  counted bigint := CASE WHEN OLD.maker_counted_at IS NULL THEN 0 ELSE CASE OLD.status WHEN 'running' THEN OLD.held
                           WHEN 'succeeded' THEN OLD.charged - coalesce(OLD.refunded, 0) ELSE 0 END END;
BEGIN
  PERFORM maker_note_spend(NEW.account_id, NEW.api_key_id, NEW.maker_counted_at, counts - counted);
  RETURN NULL;
END $$;

-- The same for a task.
CREATE OR REPLACE FUNCTION task_note_for_maker() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counts bigint := CASE WHEN NEW.status = 'succeeded' THEN NEW.charged - coalesce(NEW.refunded, 0)
                           WHEN NEW.status IN ('failed', 'expired') THEN 0 ELSE NEW.reserved END;
  counted bigint := CASE WHEN OLD.maker_counted_at IS NULL THEN 0
                           WHEN OLD.status = 'succeeded' THEN OLD.charged - coalesce(OLD.refunded, 0)
                           WHEN OLD.status IN ('failed', 'expired') THEN 0 ELSE OLD.reserved END;
BEGIN
  PERFORM maker_note_spend(NEW.account_id, NEW.api_key_id, NEW.maker_counted_at, counts - counted);
  RETURN NULL;
END $$;

-- Has the successor take over what the key has spent. Locks are taken in the order key, account. Where the key's counter has
-- begun, it is exact; the other periods are summed up. A task that is just ending stays counted as it is held. Calls of a key
-- without a limit get a period that is none, so that their ends are noted for the successor.
CREATE OR REPLACE FUNCTION key_pass_on(p_account uuid, p_key uuid, p_successor uuid) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  terms record;
  known key_spend;
  begun timestamptz;
  day timestamptz;
  month timestamptz;
  open_calls uuid[];
  open_tasks uuid[];
BEGIN
  PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
  begun := clock_timestamp();
  day := key_period_start('day', begun);
  month := key_period_start('month', begun);
  SELECT spend_limit, spend_limit_period AS period INTO terms FROM api_key WHERE id = p_key;
  SELECT s.* INTO known FROM key_room(p_account, p_key) r, key_spend s
   WHERE r.counts_in IS NOT NULL AND s.account_id = p_account AND s.api_key_id = p_key;
  INSERT INTO key_inherited VALUES (
    p_account, p_successor, p_key, begun,
    day, CASE WHEN known.period = 'day' AND known.period_start = day THEN known.spent
              ELSE key_spent(p_account, p_key, day) END,
    month, CASE WHEN known.period = 'month' AND known.period_start = month THEN known.spent
                ELSE key_spent(p_account, p_key, month) END,
    CASE WHEN known.period = 'total' THEN known.spent ELSE key_spent(p_account, p_key, '-infinity') END);
  IF terms.spend_limit IS NOT NULL THEN
    INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
      SELECT p_account, p_successor, terms.period,
             CASE terms.period WHEN 'day' THEN day_start WHEN 'month' THEN month_start ELSE '-infinity' END,
             CASE terms.period WHEN 'day' THEN day_spent WHEN 'month' THEN month_spent ELSE total_spent END, begun
        FROM key_inherited WHERE account_id = p_account AND api_key_id = p_successor;
  END IF;
  SELECT coalesce(array_agg(id) FILTER (WHERE is_task), '{}'), coalesce(array_agg(id) FILTER (WHERE NOT is_task), '{}')
    INTO open_tasks, open_calls FROM key_unfolded(p_account, p_key) WHERE is_open;
  INSERT INTO key_spend_carried (account_id, id, api_key_id, begun_at)
    SELECT p_account, id, p_successor, begun FROM unnest(open_calls || open_tasks) id
    UNION
    SELECT c.account_id, c.id, p_successor, begun FROM key_spend_carried c
     WHERE c.account_id = p_account AND c.api_key_id = p_key
       AND (EXISTS (SELECT FROM execution e WHERE e.account_id = c.account_id AND e.id = c.id AND e.status = 'running')
         OR EXISTS (SELECT FROM task t WHERE t.account_id = c.account_id AND t.id = c.id
                       AND t.status IN ('queued', 'processing', 'reconciliation_required')));
  UPDATE execution SET spend_period = begun
   WHERE account_id = p_account AND id = ANY (open_calls) AND status = 'running' AND spend_period IS NULL;
  UPDATE task SET spend_period = begun
   WHERE account_id = p_account AND spend_period IS NULL AND id IN (
     SELECT id FROM task WHERE account_id = p_account AND id = ANY (open_tasks) FOR NO KEY UPDATE SKIP LOCKED);
END $$;
