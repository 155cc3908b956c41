/**
 * The statements of an audit, all in one transaction. In each, $1 is true for a full audit, and $2 and $3 are the times
 * from which executions and holds are read. Earlier audits have checked older rows.
 */

/** Most discrepancies in a report. */
export const MAX_DISCREPANCIES = 100;

/** Sums per account, for every account id that any row names, even if the account row is missing. */
export const CREATE_AUDITED = `
  CREATE TEMPORARY TABLE audited (
    account_id uuid, posted bigint, held bigint, open_holds numeric, entries numeric, position bigint, broken bigint
  ) ON COMMIT DROP`;

/** Fills it: open holds are read by time, and the posted sum is the account's checkpoint plus the entries after it. */
export const FILL_AUDITED = `
  WITH open AS (
    SELECT account_id, sum(amount) AS total FROM (
      SELECT account_id, held AS amount FROM execution WHERE status = 'running' AND created_at >= $2
      UNION ALL
      SELECT account_id, amount FROM hold WHERE state = 'open' AND created_at >= $3) o
     GROUP BY account_id)
  INSERT INTO audited
  SELECT coalesce(a.id, open.account_id), a.posted, a.held, coalesce(open.total, 0), coalesce(c.entries, 0) + fresh.total,
         coalesce(fresh.last, c.position, 0), fresh.broken
    FROM account a FULL JOIN open ON open.account_id = a.id
    LEFT JOIN audit_checkpoint c ON c.account_id = a.id AND NOT $1
   CROSS JOIN LATERAL (
     SELECT coalesce(sum(amount), 0) AS total, max(position) AS last,
            min(position) FILTER (WHERE balance_after <> expected) AS broken
       FROM (SELECT position, amount, balance_after,
                    coalesce(lag(balance_after) OVER (ORDER BY position), c.entries, 0) + amount AS expected
               FROM ledger_entry
              WHERE account_id = coalesce(a.id, open.account_id) AND position > coalesce(c.position, 0)) e) fresh`;

/** Sums over all accounts. */
export const TOTALS = `
  SELECT count(posted) AS accounts, coalesce(sum(posted), 0) AS posted, coalesce(sum(held), 0) AS held,
         coalesce(sum(entries), 0) AS entries, coalesce(sum(open_holds), 0) AS open_holds
    FROM audited`;

/**
 * Rules about an account; $1 is the time from which executions are read. No call may run longer than a day
 * (`CALL_DEADLINE_MS`). "Now" is the latest lease of a process, so that a restored copy of the database passes.
 */
export const ACCOUNT_RULES = `
  SELECT account_id, 'the account exists' AS rule, '' AS detail FROM audited WHERE posted IS NULL
  UNION ALL
  SELECT account_id, 'posted is the sum of entries', posted || ' against ' || entries FROM audited WHERE posted <> entries
  UNION ALL
  SELECT account_id, 'held is the sum of open holds', held || ' against ' || open_holds FROM audited WHERE held <> open_holds
  UNION ALL
  SELECT account_id, 'nothing is negative', posted || ' posted, ' || held || ' held' FROM audited
   WHERE posted < 0 OR held < 0 OR held > posted
  UNION ALL
  SELECT account_id, 'balance_after continues the entry before', 'entry ' || broken FROM audited WHERE broken IS NOT NULL
  UNION ALL
  SELECT account_id, 'a call ends within a day', 'execution ' || id || ' holds ' || held FROM execution
   WHERE status = 'running' AND created_at >= $1 AND created_at < (
     SELECT least(now(), max(lease_until)) - interval '1 day' FROM gateway_process)
  LIMIT ${MAX_DISCREPANCIES}`;

/** The factor of the price book in a column; a product is exact, a quotient of numeric is not. */
const factorOf = (column: string): string =>
  `coalesce((${column}->>'factorPermille')::numeric, 1000) * 0.001`;

/**
 * A call or hold has one charge, of the amount in its record, which is what its lines add up to, estimates too. Version 0.1.0
 * charged a left stream of hidden reasoning its whole hold, with lines of what was counted alone: of its rows no more can be
 * proven. Its processes may write such rows beside newer ones, so their time does not tell them apart, but the counts do:
 * since then estimated counts are marked (`isEstimated`). A reversal refunds the whole charge. Refunds never exceed
 * the charge. The sum of the entries of dropped records was stored when they were dropped.
 */
export const CHARGE_RULES = `
  WITH touched AS (
    SELECT account_id, id FROM execution WHERE created_at >= $2
    UNION SELECT account_id, id FROM hold WHERE created_at >= $3
    UNION SELECT e.account_id, e.hold_id
            FROM account a LEFT JOIN audit_checkpoint c ON c.account_id = a.id AND NOT $1
           CROSS JOIN LATERAL (
             SELECT account_id, hold_id FROM ledger_entry
              WHERE account_id = a.id AND position > coalesce(c.position, 0) AND hold_id IS NOT NULL) e)
  SELECT account_id, 'every settled hold has one charge of its amount' AS rule, 'hold ' || id AS detail
    FROM touched
    LEFT JOIN execution x USING (account_id, id)
    LEFT JOIN hold h USING (account_id, id)
    LEFT JOIN LATERAL (
      SELECT -amount AS amount FROM ledger_entry
       WHERE account_id = touched.account_id AND hold_id = touched.id AND kind = 'charge') charge ON true
    LEFT JOIN LATERAL (
      SELECT sum(amount) AS amount FROM ledger_entry
       WHERE account_id = touched.account_id AND hold_id = touched.id AND kind = 'correction' AND hold_id IS NOT NULL
     ) returned ON true
   WHERE (coalesce(charge.amount, 0) <> coalesce(x.charged, h.settled_amount, 0)
            + CASE WHEN x.status = 'failed' THEN coalesce(returned.amount, 0) ELSE 0 END
       OR coalesce(returned.amount, 0) > coalesce(charge.amount, 0))
     AND NOT (x.held IS NULL AND h.amount IS NULL AND EXISTS (
       SELECT FROM dropped_record d WHERE d.account_id = touched.account_id AND touched.id <= d.until_id))
  UNION ALL
  SELECT d.account_id, 'entries without a record are those of dropped records', gone.charged || ' against ' || d.charged
    FROM dropped_record d
   CROSS JOIN LATERAL (
     SELECT coalesce(-sum(e.amount), 0) AS charged FROM ledger_entry e
      WHERE e.account_id = d.account_id AND e.hold_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM execution x WHERE x.account_id = e.account_id AND x.id = e.hold_id)
        AND NOT EXISTS (SELECT FROM hold h WHERE h.account_id = e.account_id AND h.id = e.hold_id)) gone
   WHERE $1 AND gone.charged <> d.charged
  UNION ALL
  SELECT account_id, 'a charge is the sum of its lines, at most its hold', 'execution ' || id
    FROM execution
   WHERE created_at >= $2 AND status = 'succeeded' AND unit IS NOT NULL
     AND NOT (estimated AND charged = held AND unit = 'token' AND NOT quantity ? 'isEstimated')
     AND charged <> least(held, ceil(charge_due(unit, quantity, unit_price) * ${factorOf('price_book')}))
  UNION ALL
  SELECT h.account_id, 'a charge is the sum of its lines, at most its hold', 'task ' || h.id
    FROM hold h
   CROSS JOIN LATERAL (SELECT * FROM task WHERE account_id = h.account_id AND id = h.id OFFSET 0) t
   WHERE h.created_at >= $3 AND t.status = 'succeeded' AND t.unit IS NOT NULL
     AND (t.charged <> least(CASE t.unit WHEN 'token' THEN t.reserved END,
                             ceil(charge_due(t.unit, t.quantity, t.unit_price) * ${factorOf('t.price_book')}))
       OR t.charged <> h.settled_amount)
  LIMIT ${MAX_DISCREPANCIES}`;

/**
 * What the keys that a key made spent is what their calls and tasks hold or cost, less what was given back. Where records
 * were dropped it is at least that. The counter of a key that was rotated stands still.
 */
export const MAKER_RULES = `
  SELECT s.account_id, 'what made keys spent is what their calls cost' AS rule,
         'key ' || s.api_key_id || ': ' || s.total_spent || ' against ' || made.spent AS detail
    FROM maker_spend s
   CROSS JOIN LATERAL (
     SELECT coalesce(sum(amount), 0) AS spent FROM (
       SELECT CASE x.status WHEN 'running' THEN x.held
                            WHEN 'succeeded' THEN x.charged - coalesce(x.refunded, 0) ELSE 0 END AS amount
         FROM api_key k JOIN execution x ON x.api_key_id = k.id WHERE k.maker_id = s.api_key_id
       UNION ALL
       SELECT CASE WHEN EXISTS (SELECT FROM late_reversal r WHERE r.account_id = t.account_id AND r.id = t.id) THEN 0
                   WHEN t.status = 'succeeded' THEN t.charged - coalesce(t.refunded, 0)
                   WHEN t.status IN ('failed', 'expired') THEN 0 ELSE t.reserved END
         FROM api_key k JOIN task t ON t.api_key_id = k.id WHERE k.maker_id = s.api_key_id AND t.account_id = s.account_id) c
   ) made
   WHERE NOT EXISTS (SELECT FROM key_inherited i WHERE i.account_id = s.account_id AND i.from_key_id = s.api_key_id)
     AND (s.total_spent < made.spent
       OR s.total_spent <> made.spent AND NOT EXISTS (SELECT FROM dropped_record d WHERE d.account_id = s.account_id))
  LIMIT ${MAX_DISCREPANCIES}`;

/**
 * Stores how far an audit without findings has read. Rows that began within the last minute may not be visible yet.
 */
export const KEEP_CHECKPOINTS = `
  INSERT INTO audit_checkpoint (account_id, position, entries)
    SELECT account_id, position, entries FROM audited WHERE posted IS NOT NULL
    ON CONFLICT (account_id) DO UPDATE SET position = excluded.position, entries = excluded.entries`;

/** Parameters $1 and $2: the times from which executions and holds were read. */
export const KEEP_STATE = `
  UPDATE audit_state
     SET finished_at = now(), ok = true,
         executions_from = least(now() - interval '1 minute',
           (SELECT min(created_at) FROM execution WHERE status = 'running' AND created_at >= $1)),
         holds_from = least(now() - interval '1 minute',
           (SELECT min(created_at) FROM hold WHERE state = 'open' AND created_at >= $2))`;
