import { REFUND_REASONS } from '../ledger-entry.js';
import { TOKEN_SUMS } from '../token-sums.js';
import { COST_SUMS } from '../cost-sums.js';
import { BY_RUN } from './usage-by-run.js';
import { NIL_UUID, type UsageDimension, type UsageRequest } from './usage-request.js';
import { ONE_UNIT, unitOfRow } from './usage-units.js';

const COLUMN: Readonly<Record<UsageDimension, string>> = {
  day: 'day',
  hour: 'hour',
  model: 'model',
  key: 'api_key_id',
  endpoint: 'endpoint',
  run: 'run',
  account: 'account_id',
  provider: 'provider',
  upstream_model: 'upstream_model',
};
/** The columns that are added up as they are. */
const ADDED = [...TOKEN_SUMS, ...COST_SUMS];
const SUMS = `calls, failures, quantity, charged, ${ADDED.join(', ')}`;
const SUMS_WITH_UNIT = `${SUMS}, ${unitOfRow('$8')} AS unit`;
/** Months are summed up over all models, whose units may differ. */
const SUMS_WITHOUT_UNIT = `${SUMS}, CASE WHEN $8::jsonb IS NULL THEN NULL END AS unit`;
/** Splits `[$1, $2)` for reading whole months: days `[$1, lo)`, months `[lo, hi)`, days `[hi, $2)`. */
const nextMonth = (day: string) =>
  `(date_trunc('month', ${day}::date::timestamp - interval '1 day') + interval '1 month')::date`;
const SPAN = `span AS (
      SELECT lo, greatest(lo, CASE WHEN $2::date > (now() AT TIME ZONE 'UTC')::date THEN ${nextMonth('$2')}
                                   ELSE date_trunc('month', $2::date::timestamp)::date END) AS hi
        FROM (SELECT ${nextMonth('$1')} AS lo) first)`;
const LO = '(SELECT lo FROM span)';
const HI = '(SELECT hi FROM span)';

/** The sums that a report reads, and the column and type of its time. */
interface Sums {
  readonly usage_day: string;
  readonly usage_latency: string;
  readonly usage_refunds: string;
  readonly time: 'day' | 'hour';
  readonly type: 'date' | 'timestamptz';
}
const BY_DAY: Sums = {
  usage_day: 'usage_day',
  usage_latency: 'usage_latency',
  usage_refunds: 'usage_refunds($3, $1, $2)',
  time: 'day',
  type: 'date',
};
const BY_HOUR: Sums = {
  usage_day: 'usage_hour',
  usage_latency: 'usage_hour_latency',
  usage_refunds: 'usage_hour_refunds($3, $1, $2)',
  time: 'hour',
  type: 'timestamptz',
};

function sumsOf(groupBy: readonly UsageDimension[]): Sums {
  if (groupBy.includes('hour')) return BY_HOUR;
  return groupBy.includes('run') ? { ...BY_DAY, ...BY_RUN } : BY_DAY;
}

/** Whether the request is answered by monthly sums: it names neither day nor model nor endpoint. */
function readsMonths({ groupBy, model }: UsageRequest): boolean {
  const ofHolders = groupBy.every((dimension) => dimension === 'account' || dimension === 'key');
  return ofHolders && model === undefined;
}

/** The SQL that selects the sums for a request. */
function sourcesOf(request: UsageRequest, columns: string) {
  const { groupBy, accountId, apiKeyId } = request;
  const sums = sumsOf(groupBy);
  const byHolders = (['key', 'account', 'run'] as const).some((each) => groupBy.includes(each));
  const isSummed = apiKeyId === undefined && !byHolders;
  const allAccounts = isSummed ? `account_id = '${NIL_UUID}'` : `account_id <> '${NIL_UUID}'`;
  // Each statement has all parameters, whether or not its scope uses them.
  const scope = accountId === undefined ? `$3::uuid IS NULL AND ${allAccounts}` : 'account_id = $3';
  const ofKey = '($5::uuid IS NULL OR api_key_id = $5)';
  const from = (table: string, names: string, time: string) =>
    `SELECT ${columns}, ${names} FROM ${table} WHERE ${scope} AND ${ofKey} AND ${time}`;
  const between = (table: string, names: string, start: string, end: string) =>
    `${from(table, names, `${sums.time} >= ${start} AND ${sums.time} < ${end}`)} AND ($4::text IS NULL OR model = $4)`;
  return (table: 'usage_day' | 'usage_latency', names: string): string => {
    if (!readsMonths(request)) {
      return between(sums[table], names, `$1::${sums.type}`, `$2::${sums.type}`);
    }
    const months = table === 'usage_day' ? 'usage_month' : 'usage_month_latency';
    return [
      between(table, names, '$1::date', `least(${LO}, $2::date)`),
      from(months, names, `month >= ${LO} AND month < ${HI}`),
      between(table, names, HI, '$2::date'),
    ].join(' UNION ALL ');
  };
}

const NAMES_OF_ACCOUNTS =
  'LEFT JOIN (SELECT id AS account_id, name AS account_name FROM account) named USING (account_id)';

/** What was given back in the time, in the same groups. */
const returnedBy = (columns: string, refunds: string) => `returned AS (
      SELECT ${columns}, sum(amount) AS refunded, ${REFUND_REASONS.map(
        (reason) => `sum(amount) FILTER (WHERE reason = '${reason}') AS refunded_${reason}`,
      ).join(', ')}
        FROM ${refunds}
       WHERE ($4::text IS NULL OR model = $4) AND ($5::uuid IS NULL OR api_key_id = $5)
       GROUP BY ${columns})`;
const REFUNDED = ['refunded', ...REFUND_REASONS.map((reason) => `refunded_${reason}`)]
  .map((name) => `coalesce(${name}, 0) AS ${name}`)
  .join(', ');

/** The columns of the dimensions; day and hour are written as `written` says. */
function columnsWith(
  groupBy: readonly UsageDimension[],
  written: Readonly<Record<'day' | 'hour', string>>,
): string {
  const columns: Readonly<Record<UsageDimension, string>> = { ...COLUMN, ...written };
  return groupBy.map((dimension) => columns[dimension]).join(', ');
}
const SHOWN = {
  day: `to_char(day, 'YYYY-MM-DD') AS day`,
  hour: `to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS hour`,
};
const NEWEST_FIRST = { day: 'day DESC', hour: 'hour DESC' };

/** The SQL of a report. Its parameters are `from`, `to`, the account, the model, the key, `limit`, `offset` and the units of the models of music. */
export function usageStatementFor(request: UsageRequest): string {
  const { groupBy } = request;
  const { time, type, usage_refunds: refunds } = sumsOf(groupBy);
  const ofMonths = readsMonths(request);
  const ofAccounts = groupBy.includes('account');
  const columns = groupBy.map((dimension) => COLUMN[dimension]).join(', ');
  const source = sourcesOf(request, columns);
  const sums = ofMonths ? SUMS_WITHOUT_UNIT : SUMS_WITH_UNIT;
  const order = columnsWith(groupBy, NEWEST_FIRST);
  // Latencies are read only for the time of the page, and joined to its groups by their position in the page.
  const timeOfPage = groupBy.includes(time)
    ? `WHERE l.${time} BETWEEN (SELECT min(${time}) FROM page) AND (SELECT max(${time}) FROM page)`
    : '';
  return `
    WITH ${ofMonths ? `${SPAN},` : ''}
    recent AS MATERIALIZED (
      SELECT * FROM usage_recent_v2($3)
       WHERE ${time} >= $1::${type} AND ${time} < $2::${type}
         AND ($4::text IS NULL OR model = $4) AND ($5::uuid IS NULL OR api_key_id = $5)),
    total AS (
      SELECT ${columns}, sum(calls) AS calls, sum(failures) AS failures, sum(quantity) AS quantity, sum(charged) AS charged,
             ${ADDED.map((name) => `sum(${name}) AS ${name}`).join(', ')}, ${ONE_UNIT} AS unit
        FROM (${source('usage_day', sums)} UNION ALL SELECT ${columns}, ${sums} FROM recent) t
       GROUP BY ${columns} ${groupBy.includes('run') ? 'HAVING sum(calls) <> 0 OR sum(charged) <> 0' : ''}),
    page AS MATERIALIZED (
      SELECT row_number() OVER (ORDER BY ${order}) AS place, total.* FROM total ORDER BY ${order} LIMIT $6 OFFSET $7),
    ${returnedBy(columns, refunds)},
    latency AS (
      SELECT place, bucket, sum(l.calls) AS calls
        FROM (${source('usage_latency', 'bucket, calls')}
              UNION ALL SELECT ${columns}, bucket, calls FROM recent WHERE bucket IS NOT NULL) l
        JOIN page USING (${columns})
       ${timeOfPage}
       GROUP BY place, bucket),
    ranked AS (
      SELECT place, bucket, sum(calls) OVER (PARTITION BY place ORDER BY bucket) AS reached,
             sum(calls) OVER (PARTITION BY place) AS calls
        FROM latency),
    quantile AS (
      SELECT place, min(bucket) FILTER (WHERE reached >= ceil(calls * 0.5)) AS p50_bucket,
             min(bucket) FILTER (WHERE reached >= ceil(calls * 0.99)) AS p99_bucket
        FROM ranked GROUP BY place)
    SELECT ${columnsWith(groupBy, SHOWN)}, calls, failures, CASE WHEN quantity = 0 OR unit IS NOT NULL THEN quantity END AS quantity, unit, charged,
           ${ADDED.join(', ')}, ${REFUNDED}, p50_bucket, p99_bucket ${ofAccounts ? ', account_name' : ''}
      FROM page LEFT JOIN quantile USING (place) LEFT JOIN returned USING (${columns})
           ${ofAccounts ? NAMES_OF_ACCOUNTS : ''} ORDER BY place`;
}
