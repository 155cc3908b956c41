-- What the statement of a month reads: the balance at its borders, and what was held there.

-- The balance of an account at a time: the sum of its entries before p_at. Entries stand in the order in which they were written,
-- while created_at is when their transaction began, up to two minutes earlier: transactions end sooner. So a search finds the place,
-- and the entries around it are read one by one. Every entry before position p_from was made before p_at, and every entry from
-- position p_to on was not.
CREATE OR REPLACE FUNCTION ledger_balance_at(
  p_account uuid, p_at timestamptz, OUT balance bigint, OUT p_from bigint, OUT p_to bigint
) LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
  SET jit = off AS $$
DECLARE
  slack CONSTANT interval := interval '2 minutes';
  below bigint := 0;
  above bigint;
  middle bigint;
  row record;
BEGIN
  balance := 0;
  SELECT position + 1 INTO above FROM ledger_entry WHERE account_id = p_account ORDER BY position DESC LIMIT 1;
  above := coalesce(above, 1);
  WHILE above - below > 1 LOOP
    middle := below + (above - below) / 2;
    SELECT position, created_at, balance_after INTO row FROM ledger_entry
     WHERE account_id = p_account AND position >= middle AND position < above ORDER BY position LIMIT 1;
    IF row.created_at < p_at THEN
      below := row.position;
      balance := row.balance_after;
    ELSE
      above := middle;
    END IF;
  END LOOP;

  p_from := above;
  FOR row IN
    SELECT position, created_at, amount FROM ledger_entry
     WHERE account_id = p_account AND position < above ORDER BY position DESC
  LOOP
    EXIT WHEN row.created_at < p_at - slack;
    p_from := row.position;
    IF row.created_at >= p_at THEN
      balance := balance - row.amount;
    END IF;
  END LOOP;
  p_to := above;
  FOR row IN
    SELECT position, created_at, amount FROM ledger_entry
     WHERE account_id = p_account AND position >= above ORDER BY position
  LOOP
    EXIT WHEN row.created_at >= p_at + slack;
    p_to := row.position + 1;
    IF row.created_at < p_at THEN
      balance := balance + row.amount;
    END IF;
  END LOOP;
END $$;

-- What calls and tasks of an account held at the end of a month; null where it is not known, because the month ended before this
-- was counted.
CREATE OR REPLACE FUNCTION held_at_month_end(p_account uuid, p_month date) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN m.ended_at > s.held_from THEN
           coalesce((SELECT held FROM usage_held WHERE account_id = p_account AND month = p_month), 0)
           + coalesce((SELECT sum(c.held) FROM usage_call c
                WHERE c.account_id = p_account AND c.created_at > s.folded_until AND c.created_at < m.ended_at
                  AND (NOT c.is_final OR c.ended_at >= m.ended_at)), 0)
           + coalesce((SELECT sum(c.held) FROM usage_pending p
               CROSS JOIN LATERAL (SELECT * FROM usage_call u WHERE u.account_id = p.account_id AND u.id = p.id OFFSET 0) c
                WHERE p.account_id = p_account AND c.created_at < m.ended_at
                  AND (NOT c.is_final OR c.ended_at >= m.ended_at)), 0) END
    FROM usage_state s, LATERAL (
      SELECT (p_month + interval '1 month')::timestamp AT TIME ZONE 'UTC' AS ended_at) m;
$$;

-- Whether the statement of a month that ended at p_ended_at can change no more: everything of that time is in the sums of usage.
CREATE OR REPLACE FUNCTION month_is_closed(p_account uuid, p_ended_at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT s.folded_until >= p_ended_at AND NOT EXISTS (
           SELECT FROM usage_pending p
            CROSS JOIN LATERAL (SELECT * FROM usage_call u WHERE u.account_id = p.account_id AND u.id = p.id OFFSET 0) c
            WHERE p.account_id = p_account AND c.is_final AND c.ended_at < p_ended_at)
    FROM usage_state s;
$$;
