import { ENTRY_SOURCE } from '../ledger-entry.js';
import { TOKEN_SUMS } from '../token-sums.js';
import { ONE_UNIT, unitOfRow } from '../usage/usage-units.js';

/** The statements of one statement of a month, all on one snapshot. $1 is the account, $2 the first day of the month. */

/** The month as times. */
const MONTH = `(
  SELECT $2::date AS first_day, ($2::date + interval '1 month')::date AS next_day,
         $2::date::timestamp AT TIME ZONE 'UTC' AS begins_at, ($2::date + interval '1 month') AT TIME ZONE 'UTC' AS ends_at) m`;

/** What the balance was at both ends of the month, and between which positions its entries are. */
export const BALANCES = `
  SELECT a.name, m.begins_at <= now() AS has_begun, o.balance AS opening, c.balance AS closing, o.p_from, c.p_to,
         CASE WHEN m.ends_at <= now() THEN held_at_month_end(a.id, m.first_day) ELSE a.held END AS held,
         m.ends_at <= now() AND month_is_closed(a.id, m.ends_at) AS is_closed
    FROM account a, ${MONTH}, LATERAL ledger_balance_at(a.id, m.begins_at) o, LATERAL ledger_balance_at(a.id, m.ends_at) c
   WHERE a.id = $1`;

/** The part of the statement to which an entry other than a charge belongs. */
const PART = `CASE kind WHEN 'credit' THEN 'credits' WHEN 'expiry' THEN 'expiries' ELSE CASE WHEN hold_id IS NULL THEN 'corrections' ELSE 'refunds' END END`;
const OWNER = `
    LEFT JOIN LATERAL (
      SELECT c.owner AS hold_owner FROM ledger_entry c
       WHERE c.account_id = shown.account_id AND c.hold_id = shown.hold_id AND c.kind = 'charge' LIMIT 1) held ON true${ENTRY_SOURCE('shown')}`;

/** Credits, corrections and expiries have an index of their own, so no charge is read. $3 and $4 are positions, $5 the most of a kind. */
export const ENTRIES = `
  SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY part ORDER BY position) AS place,
           count(*) OVER (PARTITION BY part)::int AS count, sum(amount) OVER (PARTITION BY part) AS total,
           sum(tax) OVER (PARTITION BY part) AS total_tax
      FROM (SELECT e.*, ${PART} AS part
              FROM ledger_entry e, ${MONTH}
             WHERE account_id = $1 AND position >= $3 AND position < $4 AND kind <> 'charge'
               AND created_at >= m.begins_at AND created_at < m.ends_at) parted) shown${OWNER}
   WHERE place <= $5 ORDER BY position`;

/** The next entries of the part $5 behind the position $3 and before $4; $6 is the most of them. */
export const FURTHER = `
  SELECT * FROM (
    SELECT e.* FROM ledger_entry e, ${MONTH}
     WHERE account_id = $1 AND position > $3 AND position < $4 AND kind <> 'charge' AND ${PART} = $5
       AND created_at >= m.begins_at AND created_at < m.ends_at
     ORDER BY position LIMIT $6) shown${OWNER}
   ORDER BY position`;

const TOKENS = TOKEN_SUMS.join(', ');

/** What was charged by model: usage has refunds taken off, so they are added again. $3 is the most models, $4 the units of those of music. */
export const CHARGES = `
  SELECT model, sum(calls - failures)::int AS calls, sum(charged) AS charged, ${ONE_UNIT} AS unit, sum(quantity) AS quantity,
         ${TOKEN_SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
    FROM (SELECT model, calls, failures, quantity, charged, ${unitOfRow('$4')} AS unit, ${TOKENS} FROM usage_day, ${MONTH}
           WHERE account_id = $1 AND day >= m.first_day AND day < m.next_day
          UNION ALL
          SELECT model, calls, failures, quantity, charged, ${unitOfRow('$4')}, ${TOKENS} FROM usage_recent_v2($1), ${MONTH}
           WHERE day >= m.first_day AND day < m.next_day
          UNION ALL
          SELECT r.model, 0, 0, 0, r.amount, NULL, ${TOKEN_SUMS.map(() => '0').join(', ')} FROM ${MONTH}, LATERAL usage_refunds($1, m.first_day, m.next_day) r) used
   GROUP BY model HAVING sum(charged) <> 0 OR sum(calls - failures) > 0
   ORDER BY sum(charged) DESC, model LIMIT $3`;
