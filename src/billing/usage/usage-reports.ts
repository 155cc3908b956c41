import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { REFUND_REASONS } from '../ledger-entry.js';
import { TOKEN_SUMS, type TokenSum } from '../token-sums.js';
import { COST_SUMS, type CostSum } from '../cost-sums.js';
import { BY_RUN } from './usage-by-run.js';
import { ONE_UNIT, UNIT_OF_ENDPOINT, type UsageUnit } from './usage-units.js';

/** Dimensions by which usage can be grouped. */
export const USAGE_DIMENSIONS = ['day', 'model', 'key', 'endpoint', 'run', 'account'] as const;
/** Those of operators too. */
export const ADMIN_USAGE_DIMENSIONS = [...USAGE_DIMENSIONS, 'provider', 'upstream_model'] as const;
export type UsageDimension = (typeof ADMIN_USAGE_DIMENSIONS)[number];

/** A request for usage: whole days of UTC, `to` exclusive. All filters must hold. */
export interface UsageRequest {
  readonly groupBy: readonly UsageDimension[];
  readonly fromDay: string;
  readonly toDay: string;
  readonly accountId: string | undefined;
  readonly apiKeyId: string | undefined;
  readonly model: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The usage of one group. Only the requested dimensions are present. */
export interface UsageRow extends Readonly<Record<TokenSum | CostSum, string>> {
  readonly day?: string;
  readonly model?: string;
  readonly api_key_id?: string;
  readonly endpoint?: string;
  /** Empty for calls of no run. */
  readonly run?: string;
  readonly account_id?: string;
  /** Both empty for calls that no provider was asked for. */
  readonly provider?: string;
  readonly upstream_model?: string;
  readonly calls: string;
  readonly failures: string;
  /** Null where it would be a sum of several units, or of units that are not known. */
  readonly quantity: string | null;
  readonly unit: UsageUnit | null;
  readonly charged: string;
  readonly refunded: string;
  readonly refunded_goodwill: string;
  readonly refunded_fault: string;
  readonly refunded_billing_error: string;
  readonly account_name?: string;
  readonly p50_bucket: number | null;
  readonly p99_bucket: number | null;
}

const COLUMN: Readonly<Record<UsageDimension, string>> = {
  day: 'day',
  model: 'model',
  key: 'api_key_id',
  endpoint: 'endpoint',
  run: 'run',
  account: 'account_id',
  provider: 'provider',
  upstream_model: 'upstream_model',
};
/** The account and key id of rows that sum all accounts, and the key id of calls without a key. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';
const BUCKET_GROWTH = 1.1;

/** Milliseconds in the middle of a latency bucket. All latencies in the bucket are within 5 % of it. */
export function millisecondsOf(bucket: number | null): number | null {
  return bucket === null ? null : Math.round(BUCKET_GROWTH ** (bucket - 0.5));
}

/** Reads usage: daily sums, and the calls that are not folded into them yet. */
@Injectable()
export class UsageReports {
  constructor(private readonly dataSource: DataSource) {}

  /** Groups, ordered by their dimensions; days newest first. */
  async rows(request: UsageRequest): Promise<UsageRow[]> {
    const { fromDay, toDay, apiKeyId, model, limit, offset } = request;
    const accountId = request.accountId ?? (await this.accountOf(apiKeyId));
    if (accountId === undefined && apiKeyId !== undefined) return [];
    return this.dataSource.query<UsageRow[]>(statementFor({ ...request, accountId }), [
      fromDay,
      toDay,
      accountId ?? null,
      model ?? null,
      apiKeyId ?? null,
      limit,
      offset,
    ]);
  }

  /** The account of a key. The index of the sums begins with the account, so a key alone would need a full scan. */
  private async accountOf(apiKeyId: string | undefined): Promise<string | undefined> {
    if (apiKeyId === undefined) return undefined;
    const [key] = await this.dataSource.query<{ account_id: string }[]>(
      'SELECT account_id FROM api_key WHERE id = $1',
      [apiKeyId],
    );
    return key?.account_id;
  }

  /** Total charges of a key. */
  async chargedTo(accountId: string, apiKeyId: string): Promise<MicroUsd> {
    const [row] = await this.dataSource.query<{ charged: string }[]>(
      `SELECT coalesce(sum(charged), 0) AS charged FROM (
         SELECT charged FROM usage_day WHERE account_id = $1 AND api_key_id = $2
         UNION ALL SELECT charged FROM usage_recent_v2($1) WHERE api_key_id = $2) u`,
      [accountId, apiKeyId],
    );
    return BigInt(row?.charged ?? 0);
  }
}

/** The columns that are added up as they are. */
const ADDED = [...TOKEN_SUMS, ...COST_SUMS];
const SUMS = `calls, failures, quantity, charged, ${ADDED.join(', ')}`;
const SUMS_WITH_UNIT = `${SUMS}, ${UNIT_OF_ENDPOINT} AS unit`;
/** Months are summed up over all models, whose units may differ. */
const SUMS_WITHOUT_UNIT = `${SUMS}, NULL AS unit`;
/** Splits `[$1, $2)` for reading whole months: days `[$1, lo)`, months `[lo, hi)`, days `[hi, $2)`. */
const nextMonth = (day: string) =>
  `(date_trunc('month', ${day}::date::timestamp - interval '1 day') + interval '1 month')::date`;
const SPAN = `span AS (
      SELECT lo, greatest(lo, CASE WHEN $2::date > (now() AT TIME ZONE 'UTC')::date THEN ${nextMonth('$2')}
                                   ELSE date_trunc('month', $2::date::timestamp)::date END) AS hi
        FROM (SELECT ${nextMonth('$1')} AS lo) first)`;
const LO = '(SELECT lo FROM span)';
const HI = '(SELECT hi FROM span)';

/** Whether the request is answered by monthly sums: it names neither day nor model nor endpoint. */
function readsMonths({ groupBy, model }: UsageRequest): boolean {
  const ofHolders = groupBy.every((dimension) => dimension === 'account' || dimension === 'key');
  return ofHolders && model === undefined;
}

/** The SQL that selects the sums for a request. */
function sourcesOf(request: UsageRequest, columns: string) {
  const { groupBy, accountId, apiKeyId } = request;
  const byHolders = (['key', 'account', 'run'] as const).some((each) => groupBy.includes(each));
  const isSummed = apiKeyId === undefined && !byHolders;
  const allAccounts = isSummed ? `account_id = '${NOBODY}'` : `account_id <> '${NOBODY}'`;
  // Each statement has all parameters, whether or not its scope uses them.
  const scope = accountId === undefined ? `$3::uuid IS NULL AND ${allAccounts}` : 'account_id = $3';
  const ofKey = '($5::uuid IS NULL OR api_key_id = $5)';
  const from = (table: string, names: string, time: string) =>
    `SELECT ${columns}, ${names} FROM ${table} WHERE ${scope} AND ${ofKey} AND ${time}`;
  const ofDays = (table: string, names: string, start: string, end: string) =>
    `${from(table, names, `day >= ${start} AND day < ${end}`)} AND ($4::text IS NULL OR model = $4)`;
  return (table: 'usage_day' | 'usage_latency', names: string): string => {
    if (!readsMonths(request)) {
      const source = groupBy.includes('run') ? BY_RUN[table] : table;
      return ofDays(source, names, '$1::date', '$2::date');
    }
    const months = table === 'usage_day' ? 'usage_month' : 'usage_month_latency';
    return [
      ofDays(table, names, '$1::date', `least(${LO}, $2::date)`),
      from(months, names, `month >= ${LO} AND month < ${HI}`),
      ofDays(table, names, HI, '$2::date'),
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

/** The columns of the dimensions; the day is written as `day` says. */
function columnsWithDay(groupBy: readonly UsageDimension[], day: string): string {
  return groupBy.map((dimension) => (dimension === 'day' ? day : COLUMN[dimension])).join(', ');
}

function statementFor(request: UsageRequest): string {
  const { groupBy } = request;
  const byRun = groupBy.includes('run');
  const ofAccounts = groupBy.includes('account');
  const columns = groupBy.map((dimension) => COLUMN[dimension]).join(', ');
  const source = sourcesOf(request, columns);
  const sums = readsMonths(request) ? SUMS_WITHOUT_UNIT : SUMS_WITH_UNIT;
  const shown = columnsWithDay(groupBy, `to_char(day, 'YYYY-MM-DD') AS day`);
  const order = columnsWithDay(groupBy, 'day DESC');
  // Latencies are read only for the days of the page, and joined to its groups by their position in the page.
  const daysOfPage = groupBy.includes('day')
    ? 'WHERE l.day BETWEEN (SELECT min(day) FROM page) AND (SELECT max(day) FROM page)'
    : '';
  return `
    WITH ${SPAN},
    recent AS MATERIALIZED (
      SELECT * FROM usage_recent_v2($3)
       WHERE day >= $1::date AND day < $2::date
         AND ($4::text IS NULL OR model = $4) AND ($5::uuid IS NULL OR api_key_id = $5)),
    total AS (
      SELECT ${columns}, sum(calls) AS calls, sum(failures) AS failures, sum(quantity) AS quantity, sum(charged) AS charged,
             ${ADDED.map((name) => `sum(${name}) AS ${name}`).join(', ')}, ${ONE_UNIT} AS unit
        FROM (${source('usage_day', sums)} UNION ALL SELECT ${columns}, ${sums} FROM recent) t
       GROUP BY ${columns} ${byRun ? 'HAVING sum(calls) <> 0 OR sum(charged) <> 0' : ''}),
    page AS MATERIALIZED (
      SELECT row_number() OVER (ORDER BY ${order}) AS place, total.* FROM total ORDER BY ${order} LIMIT $6 OFFSET $7),
    ${returnedBy(columns, byRun ? BY_RUN.usage_refunds : 'usage_refunds($3, $1, $2)')},
    latency AS (
      SELECT place, bucket, sum(l.calls) AS calls
        FROM (${source('usage_latency', 'bucket, calls')}
              UNION ALL SELECT ${columns}, bucket, calls FROM recent WHERE bucket IS NOT NULL) l
        JOIN page USING (${columns})
       ${daysOfPage}
       GROUP BY place, bucket),
    ranked AS (
      SELECT place, bucket, sum(calls) OVER (PARTITION BY place ORDER BY bucket) AS reached,
             sum(calls) OVER (PARTITION BY place) AS calls
        FROM latency),
    quantile AS (
      SELECT place, min(bucket) FILTER (WHERE reached >= ceil(calls * 0.5)) AS p50_bucket,
             min(bucket) FILTER (WHERE reached >= ceil(calls * 0.99)) AS p99_bucket
        FROM ranked GROUP BY place)
    SELECT ${shown}, calls, failures, CASE WHEN quantity = 0 OR unit IS NOT NULL THEN quantity END AS quantity, unit, charged,
           ${ADDED.join(', ')}, ${REFUNDED}, p50_bucket, p99_bucket ${ofAccounts ? ', account_name' : ''}
      FROM page LEFT JOIN quantile USING (place) LEFT JOIN returned USING (${columns})
           ${ofAccounts ? NAMES_OF_ACCOUNTS : ''} ORDER BY place`;
}
