/** The statements that compare a vendor's bill with our records, all in one transaction. */

/** Most entries of each list. */
export const MAX_SHOWN = 1_000;

/** One request: its line in the bill, its record, what it costs by the bill (USD) and by us (micro-USD); null where it is not. */
export interface KnownRow {
  readonly request_id: string;
  readonly line: string | null;
  readonly id: string | null;
  readonly is_task: boolean | null;
  readonly billed_usd: string | null;
  readonly cost: string | null;
}

/** Counts, and sums: of the bill in USD, of ours in micro-USD. */
export interface SumsRow {
  readonly requests: string;
  readonly repeated: string;
  readonly billed_usd: string;
  readonly matched: string;
  readonly matched_usd: string;
  readonly matched_cost: string;
  readonly differing: string;
  readonly unknown_to_us: string;
  readonly unknown_to_us_usd: string;
  readonly unknown_to_them: string;
  readonly unknown_to_them_cost: string;
  readonly without_request_id: string;
  readonly without_request_id_cost: string;
  readonly from_time: Date | null;
  readonly to_time: Date | null;
}

/** The lines as they stand in the bill. */
export const CREATE_BILLED =
  'CREATE TEMPORARY TABLE bill_line (line bigint, request_id text, amount numeric) ON COMMIT DROP';
export const FILL_BILLED =
  'INSERT INTO bill_line SELECT * FROM unnest($1::bigint[], $2::text[], $3::numeric[])';
/** One row per request: some vendors bill one in several lines. */
export const SUM_BILLED = `
  CREATE TEMPORARY TABLE billed ON COMMIT DROP AS
  SELECT request_id, min(line) AS line, count(*) AS lines, trim_scale(sum(amount)) AS usd FROM bill_line GROUP BY 1`;
export const INDEX_BILLED =
  'CREATE UNIQUE INDEX ON billed (request_id); ANALYZE billed (request_id)';

/**
 * Our records of the provider that have ended: calls by the provider's id of the request, tasks by that of the job, and calls that became tasks by that of
 * their request. $1 is the
 * provider, $2 and $3 the time. Without a time those that the bill names, and those that began between them.
 */
export const CREATE_KNOWN = `
  CREATE TEMPORARY TABLE known (
    id uuid, is_task boolean, request_id text, created_at timestamptz, cost bigint, succeeded boolean
  ) ON COMMIT DROP`;
export const FILL_KNOWN = `
  INSERT INTO known
  SELECT id, false, provider_request_id, created_at, cost, status = 'succeeded' FROM execution
   WHERE provider = $1 AND status <> 'running' AND ($2::timestamptz IS NULL OR id >= first_id_since($2))
     AND ($2::timestamptz IS NULL OR created_at >= $2) AND ($3::timestamptz IS NULL OR created_at < $3)
  UNION ALL
  SELECT id, true, coalesce(provider_job_id, memory ->> 'providerRequestId'), created_at, cost, status = 'succeeded' FROM task
   WHERE CASE WHEN on_sandbox THEN 'sandbox' ELSE provider END = $1 AND status IN ('succeeded', 'failed', 'expired')
     AND ($2::timestamptz IS NULL OR created_at >= $2) AND ($3::timestamptz IS NULL OR created_at < $3)`;

/** The costs of one id of the provider: an id that it gave twice is one request of the bill. */
const KNOWN = `
  ours AS MATERIALIZED (
    SELECT request_id, (array_agg(id ORDER BY id))[1] AS id, bool_or(is_task) AS is_task, sum(cost) AS cost,
           bool_and(cost IS NOT NULL) AS is_whole, min(created_at) AS created_at,
           bool_or(succeeded OR cost > 0) AS is_billable
      FROM known WHERE request_id IS NOT NULL GROUP BY 1),
  matched AS MATERIALIZED (
    SELECT b.request_id, b.line, b.usd, o.id, o.is_task, o.cost, o.is_whole, o.created_at
      FROM billed b JOIN ours o USING (request_id)),
  span AS (
    SELECT coalesce($1::timestamptz, min(created_at)) AS first, coalesce($2::timestamptz, max(created_at)) AS last FROM matched),
  alone AS MATERIALIZED (
    SELECT o.* FROM ours o, span
     WHERE o.is_billable AND o.created_at BETWEEN span.first AND span.last
       AND NOT EXISTS (SELECT FROM billed b WHERE b.request_id = o.request_id))`;
/** Ours are whole micro-USD, rounded up. */
const DIFFERS = 'NOT is_whole OR abs(usd * 1000000 - cost) >= 1';

/** Everything in counts and sums. $1 and $2 are the time. */
export const SUMS = `
  WITH ${KNOWN}
  SELECT b.requests, b.repeated, b.usd AS billed_usd, m.matched, m.usd AS matched_usd, m.cost AS matched_cost, m.differing,
         b.requests - m.matched AS unknown_to_us, trim_scale(b.usd - m.usd) AS unknown_to_us_usd,
         a.alone AS unknown_to_them, a.cost AS unknown_to_them_cost,
         n.without AS without_request_id, n.cost AS without_request_id_cost, span.first AS from_time, span.last AS to_time
    FROM (SELECT count(*) AS requests, count(*) FILTER (WHERE lines > 1) AS repeated, trim_scale(coalesce(sum(usd), 0)) AS usd
            FROM billed) b,
         (SELECT count(*) AS matched, trim_scale(coalesce(sum(usd), 0)) AS usd, coalesce(sum(cost), 0) AS cost,
                 count(*) FILTER (WHERE ${DIFFERS}) AS differing FROM matched) m,
         (SELECT count(*) AS alone, coalesce(sum(cost), 0) AS cost FROM alone) a,
         (SELECT count(*) AS without, coalesce(sum(cost), 0) AS cost FROM known, span
           WHERE request_id IS NULL AND (succeeded OR cost > 0) AND created_at BETWEEN span.first AND span.last) n,
         span`;

/** What they bill and we do not know. */
export const UNKNOWN_TO_US = `
  SELECT b.request_id, b.line, NULL AS id, NULL::boolean AS is_task, b.usd AS billed_usd, NULL AS cost
    FROM billed b WHERE NOT EXISTS (SELECT FROM known k WHERE k.request_id = b.request_id)
   ORDER BY b.line LIMIT ${MAX_SHOWN}`;

/** What we know and they do not bill. $1 and $2 are the time. */
export const UNKNOWN_TO_THEM = `
  WITH ${KNOWN}
  SELECT request_id, NULL AS line, id, is_task, NULL AS billed_usd, cost FROM alone ORDER BY id LIMIT ${MAX_SHOWN}`;

/** What both know, and bill differently. */
export const DIFFERING = `
  WITH ours AS (
    SELECT request_id, (array_agg(id ORDER BY id))[1] AS id, bool_or(is_task) AS is_task, sum(cost) AS cost,
           bool_and(cost IS NOT NULL) AS is_whole FROM known WHERE request_id IS NOT NULL GROUP BY 1)
  SELECT request_id, line, id, is_task, usd AS billed_usd, CASE WHEN is_whole THEN cost END AS cost
    FROM billed JOIN ours USING (request_id) WHERE ${DIFFERS} ORDER BY line LIMIT ${MAX_SHOWN}`;
