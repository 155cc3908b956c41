import { TOKEN_SUMS } from '../token-sums.js';
import { COST_SUMS } from '../cost-sums.js';
import { MAX_DISCREPANCIES } from './audit-statements.js';

/** The statements of an audit of usage, all in one transaction. In each, $1 is true for a full audit. */

/** The sums of each kind of tokens, as a list. */
const tokensWhere = (condition: string): string =>
  `ARRAY[${TOKEN_SUMS.map((name) => `coalesce(sum(${name}) FILTER (WHERE ${condition}), 0)`).join(', ')}]`;
const TOKENS = tokensWhere('true');
const COSTS = `ARRAY[${COST_SUMS.map((name) => `coalesce(sum(${name}), 0)`).join(', ')}]`;
const EVERYBODY = `'00000000-0000-0000-0000-000000000000'`;

/** Charges less refunds, and refunds, per account and UTC day, from the new entries. */
export const CREATE_CHARGED = `
  CREATE TEMPORARY TABLE charged (account_id uuid, day date, amount bigint, refunded bigint, position bigint) ON COMMIT DROP`;

/** Fills it. Usage does not count holds without a task, because no call made them. */
export const FILL_CHARGED = `
  INSERT INTO charged
  SELECT e.account_id, (e.created_at AT TIME ZONE 'UTC')::date, -sum(e.amount) FILTER (WHERE e.is_of_call),
         sum(e.amount) FILTER (WHERE e.is_of_call AND e.kind = 'correction'), max(e.position)
    FROM account a LEFT JOIN usage_checkpoint c ON c.account_id = a.id AND NOT $1
   CROSS JOIN LATERAL (
     SELECT l.*, l.hold_id IS NOT NULL AND NOT EXISTS (
              SELECT FROM hold h LEFT JOIN task t ON t.account_id = h.account_id AND t.id = h.id
               WHERE h.account_id = l.account_id AND h.id = l.hold_id AND t.id IS NULL) AS is_of_call
       FROM ledger_entry l
      WHERE l.account_id = a.id AND l.position > coalesce(c.position, 0)) e
   GROUP BY 1, 2`;

/** Days with new entries: usage (folded or recent) must equal the ledger (sums of earlier audits and new entries). */
export const DAY_RULE = `
  WITH recent AS MATERIALIZED (
    SELECT account_id, day, sum(charged) AS charged FROM usage_recent_v2(NULL) GROUP BY 1, 2)
  SELECT c.account_id, 'usage of a day is what was charged on it' AS rule,
         c.day || ': ' || coalesce(d.charged, 0) + coalesce(r.charged, 0) || ' against '
           || coalesce(k.charged, 0) + coalesce(c.amount, 0) AS detail
    FROM charged c
    LEFT JOIN usage_checkpoint_day k ON k.account_id = c.account_id AND k.day = c.day AND NOT $1
    LEFT JOIN LATERAL (
      SELECT sum(charged) AS charged FROM usage_day u WHERE u.account_id = c.account_id AND u.day = c.day) d ON true
    LEFT JOIN recent r ON r.account_id = c.account_id AND r.day = c.day
   WHERE coalesce(d.charged, 0) + coalesce(r.charged, 0) <> coalesce(k.charged, 0) + coalesce(c.amount, 0)
   LIMIT ${MAX_DISCREPANCIES}`;

/** Compares all sums: days without a charge, accounts with their days and months, and all accounts together. */
export const SUM_RULES = `
  WITH by_day AS MATERIALIZED (SELECT account_id, day, sum(charged) AS charged FROM usage_day GROUP BY 1, 2)
  SELECT u.account_id, 'usage of a day is what was charged on it' AS rule, u.day || ': ' || u.charged || ' against 0' AS detail
    FROM by_day u
   WHERE u.account_id <> ${EVERYBODY} AND u.charged <> 0
     AND NOT EXISTS (SELECT FROM charged c WHERE c.account_id = u.account_id AND c.day = u.day)
  UNION ALL
  SELECT account_id, 'usage of an account is the sum of its days', coalesce(a.charged, 0) || ' against ' || coalesce(d.charged, 0)
    FROM usage_account a
    FULL JOIN (SELECT account_id, sum(charged) AS charged FROM by_day WHERE account_id <> ${EVERYBODY} GROUP BY 1) d
        USING (account_id)
   WHERE coalesce(a.charged, 0) <> coalesce(d.charged, 0)
  UNION ALL
  SELECT account_id, 'usage of an account is the sum of its months', coalesce(a.charged, 0) || ' against ' || coalesce(m.charged, 0)
    FROM usage_account a
    FULL JOIN (SELECT account_id, sum(charged) AS charged FROM usage_month GROUP BY 1) m USING (account_id)
   WHERE coalesce(a.charged, 0) <> coalesce(m.charged, 0)
  UNION ALL
  SELECT account_id, 'refunds of a day are what was given back on it',
         day || ': ' || coalesce(u.refunded, 0) || ' against ' || coalesce(c.refunded, 0)
    FROM charged c
    FULL JOIN (SELECT account_id, day, sum(amount) AS refunded FROM usage_refunds(NULL, '1970-01-01', '9999-01-01') GROUP BY 1, 2) u
        USING (account_id, day)
   WHERE coalesce(u.refunded, 0) <> coalesce(c.refunded, 0)
  UNION ALL
  SELECT ${EVERYBODY}, 'usage of everybody is the sum of all accounts', day || ': ' || difference
    FROM (SELECT day, sum(CASE WHEN account_id = ${EVERYBODY} THEN charged ELSE -charged END) AS difference
            FROM by_day GROUP BY 1) e
   WHERE difference <> 0
  UNION ALL
  SELECT account_id, 'tokens of an account are the same by day and by month', m.tokens::text || ' against ' || d.tokens::text
    FROM (SELECT account_id, ${TOKENS} AS tokens FROM usage_day WHERE account_id <> ${EVERYBODY} GROUP BY 1) d
    FULL JOIN (SELECT account_id, ${TOKENS} AS tokens FROM usage_month GROUP BY 1) m USING (account_id)
   WHERE m.tokens IS DISTINCT FROM d.tokens
  UNION ALL
  SELECT ${EVERYBODY}, 'tokens of everybody are the sum of all accounts', day || ': ' || everybody::text || ' against ' || accounts::text
    FROM (SELECT day, ${tokensWhere(`account_id = ${EVERYBODY}`)} AS everybody,
                 ${tokensWhere(`account_id <> ${EVERYBODY}`)} AS accounts
            FROM usage_day GROUP BY 1) t
   WHERE everybody IS DISTINCT FROM accounts
  LIMIT ${MAX_DISCREPANCIES}`;

/**
 * Costs are in no entry of the ledger: usage has those of the records, those that were dropped included. By account, and by day
 * and month as by account; all accounts together.
 */
export const COST_RULES = `
  WITH recorded AS (
    SELECT account_id, sum(cost) AS cost FROM (
      SELECT account_id, cost FROM execution WHERE cost > 0
      UNION ALL SELECT account_id, cost FROM task WHERE cost > 0
      UNION ALL SELECT account_id, cost FROM dropped_record WHERE cost > 0) r
     GROUP BY 1), used AS (
    SELECT account_id, sum(cost) AS cost FROM (
      SELECT account_id, cost FROM usage_account WHERE cost > 0
      UNION ALL SELECT account_id, cost FROM usage_recent_v2(NULL) WHERE cost > 0) u
     GROUP BY 1), by_day AS MATERIALIZED (
    SELECT account_id, day, ${COSTS} AS costs FROM usage_day GROUP BY 1, 2)
  SELECT account_id, 'usage has what the records cost' AS rule,
         coalesce(used.cost, 0) || ' against ' || coalesce(recorded.cost, 0) AS detail
    FROM used FULL JOIN recorded USING (account_id)
   WHERE coalesce(used.cost, 0) <> coalesce(recorded.cost, 0)
  UNION ALL
  SELECT account_id, 'the cost of an account is the sum of its days', coalesce(a.cost, 0) || ' against ' || coalesce(d.cost, 0)
    FROM usage_account a
    FULL JOIN (SELECT account_id, sum(costs[1]) AS cost FROM by_day WHERE account_id <> ${EVERYBODY} GROUP BY 1) d
        USING (account_id)
   WHERE coalesce(a.cost, 0) <> coalesce(d.cost, 0)
  UNION ALL
  SELECT account_id, 'costs of an account are the same by day and by month', m.costs::text || ' against ' || d.costs::text
    FROM (SELECT account_id, ${COSTS} AS costs FROM usage_day WHERE account_id <> ${EVERYBODY} GROUP BY 1) d
    FULL JOIN (SELECT account_id, ${COSTS} AS costs FROM usage_month GROUP BY 1) m USING (account_id)
   WHERE m.costs IS DISTINCT FROM d.costs
  UNION ALL
  SELECT ${EVERYBODY}, 'costs of everybody are the sum of all accounts', day || ': ' || everybody || ' against ' || accounts
    FROM (SELECT day, coalesce(sum(costs[1]) FILTER (WHERE account_id = ${EVERYBODY}), 0) AS everybody,
                 coalesce(sum(costs[1]) FILTER (WHERE account_id <> ${EVERYBODY}), 0) AS accounts
            FROM by_day GROUP BY 1) e
   WHERE everybody <> accounts
  LIMIT ${MAX_DISCREPANCIES}`;

/** The first day whose hours are all there. */
const WHOLE_FROM = `(((SELECT hours_from FROM usage_state) + interval '1 day' - interval '1 microsecond') AT TIME ZONE 'UTC')::date`;
const HOUR_SUMS = ['calls', 'failures', 'quantity', 'charged', ...TOKEN_SUMS, ...COST_SUMS];

/** Days whose `sums` differ from those of their hours, by account and the columns of `by`. */
const hoursDiffer = (
  rule: string,
  days: string,
  hours: string,
  sums: readonly string[],
  by = '',
) => `
  SELECT account_id, '${rule}' AS rule, day || ': ' || ARRAY[${sums.map((name) => `sum(${name})`).join(', ')}]::text AS detail
    FROM (SELECT account_id, day, ${by} ${sums.join(', ')} FROM ${days} WHERE day >= ${WHOLE_FROM}
          UNION ALL
          SELECT account_id, (hour AT TIME ZONE 'UTC')::date, ${by} ${sums.map((name) => `-${name}`).join(', ')}
            FROM ${hours} WHERE hour >= ${WHOLE_FROM}::timestamp AT TIME ZONE 'UTC') d
   GROUP BY ${by} account_id, day HAVING ${sums.map((name) => `sum(${name}) <> 0`).join(' OR ')}`;

/** The hours of a day add up to the day, as long as hours are kept. */
export const HOUR_RULES = `
  ${hoursDiffer('usage of a day is the sum of its hours', 'usage_day', 'usage_hour', HOUR_SUMS)}
  UNION ALL
  ${hoursDiffer('latencies of a day are those of its hours', 'usage_latency', 'usage_hour_latency', ['calls'], 'bucket,')}
  UNION ALL
  ${hoursDiffer('refunds of a day are those of its hours', 'usage_refund', 'usage_hour_refund', ['amount'], 'reason,')}
  LIMIT ${MAX_DISCREPANCIES}`;

/** Stores how far an audit without a finding has read. */
export const FORGET_DAYS = `DELETE FROM usage_checkpoint_day WHERE $1`;
export const KEEP_DAYS = `
  INSERT INTO usage_checkpoint_day AS k (account_id, day, charged) SELECT account_id, day, coalesce(amount, 0) FROM charged
    ON CONFLICT (account_id, day) DO UPDATE SET charged = k.charged + excluded.charged`;
export const KEEP_POSITIONS = `
  INSERT INTO usage_checkpoint (account_id, position) SELECT account_id, max(position) FROM charged GROUP BY 1
    ON CONFLICT (account_id) DO UPDATE SET position = excluded.position`;
