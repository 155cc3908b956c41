import { MAX_DISCREPANCIES } from './audit-statements.js';

/**
 * Rules about the kinds of money; $1 is true for a full audit, else the sources of new entries are read. That paid money is not
 * negative is a constraint of the account.
 */
export const LOT_RULES = `
  WITH moved AS MATERIALIZED (
    SELECT s.account_id, s.position, e.kind, e.amount, e.credit_position, s.granted, u.credit, u.amount * sign(e.amount)::int AS part,
           coalesce(l.is_granted, false) AS is_granted
      FROM account a LEFT JOIN audit_checkpoint c ON c.account_id = a.id AND NOT $1
     CROSS JOIN LATERAL (
       SELECT * FROM ledger_entry_source WHERE account_id = a.id AND position > coalesce(c.position, 0)) s
      LEFT JOIN ledger_entry e ON e.account_id = s.account_id AND e.position = s.position
     CROSS JOIN LATERAL unnest(s.credits, s.amounts) u (credit, amount)
      LEFT JOIN credit_lot l ON l.account_id = s.account_id AND l.position = u.credit
     WHERE a.in_lots IS NOT NULL)
  SELECT account_id, 'what is in lots is the sum of the lots' AS rule,
         coalesce(a.in_lots, 0) || ' against ' || coalesce(l.total, 0) AS detail
    FROM (SELECT id AS account_id, in_lots FROM account WHERE in_lots > 0) a
    FULL JOIN (SELECT account_id, sum(remaining) AS total FROM credit_lot WHERE NOT is_empty GROUP BY 1) l USING (account_id)
   WHERE coalesce(a.in_lots, 0) <> coalesce(l.total, 0)
  UNION ALL
  SELECT account_id, 'an entry is the sum of its sources', 'entry ' || position FROM moved
   GROUP BY account_id, position, kind, amount, credit_position, granted
  HAVING amount IS DISTINCT FROM sum(part) OR granted <> coalesce(sum(part) FILTER (WHERE is_granted), 0)
      OR (kind = 'expiry' AND array_agg(credit) <> ARRAY[credit_position])
  UNION ALL
  SELECT l.account_id, 'a lot is its credit and what was taken from it and given back', 'credit ' || l.position
    FROM credit_lot l
    LEFT JOIN ledger_entry e ON e.account_id = l.account_id AND e.position = l.position AND e.kind = 'credit'
    LEFT JOIN (SELECT account_id, credit, sum(part) AS part FROM moved GROUP BY 1, 2) m
      ON m.account_id = l.account_id AND m.credit = l.position
   WHERE $1 AND (e.amount IS DISTINCT FROM l.amount OR (e.credit_kind = 'granted') <> l.is_granted
                 OR l.remaining <> l.amount + coalesce(m.part, 0))
  LIMIT ${MAX_DISCREPANCIES}`;
