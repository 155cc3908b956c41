import { MAX_DISCREPANCIES } from './audit-statements.js';

/**
 * Rules about runs. $1 is true for a full audit, $2 and $3 are the times from which executions and holds are read. A run holds what its open calls and tasks hold. In a full audit its other counters are the sums of their records, and of the
 * records that were dropped. Records of an older run of the same name, which was dropped, do not count.
 */
export const RUN_RULES = `
  WITH open AS (
    SELECT o.account_id, o.run, sum(o.held) AS held FROM (
      SELECT account_id, run, held, created_at FROM execution
       WHERE status = 'running' AND created_at >= $2 AND run IS NOT NULL
      UNION ALL
      SELECT t.account_id, t.run, h.amount, t.created_at FROM hold h
       CROSS JOIN LATERAL (SELECT * FROM task WHERE account_id = h.account_id AND id = h.id OFFSET 0) t
       WHERE h.state = 'open' AND h.created_at >= $3 AND t.run IS NOT NULL) o
      JOIN run r ON r.account_id = o.account_id AND r.id = o.run AND run_began_before(r.created_at, o.created_at)
     GROUP BY 1, 2), counted AS (
    SELECT c.account_id, c.run, count(*) AS calls, sum(c.spent) AS spent FROM (
      SELECT account_id, run, created_at,
             CASE status WHEN 'succeeded' THEN charged - coalesce(refunded, 0) ELSE 0 END AS spent
        FROM execution WHERE $1 AND run IS NOT NULL
      UNION ALL
      SELECT account_id, run, created_at, charge_rest(account_id, id) FROM task WHERE $1 AND run IS NOT NULL) c
      JOIN run r ON r.account_id = c.account_id AND r.id = c.run AND run_began_before(r.created_at, c.created_at)
     GROUP BY 1, 2)
  SELECT r.account_id, 'a run holds what its calls hold' AS rule,
         'run ' || r.id || ': ' || r.held || ' against ' || coalesce(o.held, 0) AS detail
    FROM run r LEFT JOIN open o ON o.account_id = r.account_id AND o.run = r.id
   WHERE r.held <> coalesce(o.held, 0)
  UNION ALL
  SELECT r.account_id, 'a run counts what its calls spent',
         'run ' || r.id || ': ' || r.spent || ' in ' || r.calls || ' calls against '
           || coalesce(c.spent, 0) + r.dropped_spent || ' in ' || coalesce(c.calls, 0) + r.dropped_calls
    FROM run r LEFT JOIN counted c ON c.account_id = r.account_id AND c.run = r.id
   WHERE $1 AND (r.spent <> coalesce(c.spent, 0) + r.dropped_spent OR r.calls <> coalesce(c.calls, 0) + r.dropped_calls)
  LIMIT ${MAX_DISCREPANCIES}`;
