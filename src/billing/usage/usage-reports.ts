import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Catalog } from '../../catalog/catalog.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { TokenSum } from '../token-sums.js';
import type { CostSum } from '../cost-sums.js';
import { NIL_UUID, type UsageRequest } from './usage-request.js';
import { usageStatementFor } from './usage-statement.js';
import { musicUnitsOf, type UsageUnit } from './usage-units.js';

/** The usage of one group. Only the requested dimensions are present. */
export interface UsageRow extends Readonly<Record<TokenSum | CostSum, string>> {
  readonly day?: string;
  /** When the hour begins: `2026-01-31T14:00:00Z`. */
  readonly hour?: string;
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

const BUCKET_GROWTH = 1.1;

/** Milliseconds in the middle of a latency bucket. All latencies in the bucket are within 5 % of it. */
export function millisecondsOf(bucket: number | null): number | null {
  return bucket === null ? null : Math.round(BUCKET_GROWTH ** (bucket - 0.5));
}

const LATENCY_SINCE = `
  WITH latency AS (
    SELECT bucket, sum(calls) AS calls FROM (
      SELECT bucket, calls FROM usage_hour_latency WHERE account_id = '${NIL_UUID}' AND hour >= $1::timestamptz
      UNION ALL SELECT bucket, calls FROM usage_recent_v2(NULL) WHERE hour >= $1::timestamptz AND bucket IS NOT NULL) l
     GROUP BY 1),
  ranked AS (
    SELECT bucket, sum(calls) OVER (ORDER BY bucket) AS reached, sum(calls) OVER () AS calls FROM latency)
  SELECT min(bucket) FILTER (WHERE reached >= ceil(calls * 0.5)) AS p50_bucket,
         min(bucket) FILTER (WHERE reached >= ceil(calls * 0.99)) AS p99_bucket
    FROM ranked`;

/** Reads usage: sums of days or hours, and the calls that are not folded into them yet. */
@Injectable()
export class UsageReports {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(Catalog) private readonly catalog: Pick<Catalog, 'music'>,
  ) {}

  /** Groups, ordered by their dimensions; days and hours newest first. */
  async rows(request: UsageRequest): Promise<UsageRow[]> {
    const { from, to, apiKeyId, model, limit, offset } = request;
    const accountId = request.accountId ?? (await this.accountOf(apiKeyId));
    if (accountId === undefined && apiKeyId !== undefined) return [];
    return this.dataSource.query<UsageRow[]>(usageStatementFor({ ...request, accountId }), [
      from,
      to,
      accountId ?? null,
      model ?? null,
      apiKeyId ?? null,
      limit,
      offset,
      musicUnitsOf(this.catalog),
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

  /** The latency of the calls of all accounts since the beginning of an hour. */
  async latencySince(hour: string): Promise<Pick<UsageRow, 'p50_bucket' | 'p99_bucket'>> {
    const [row] = await this.dataSource.query<[Pick<UsageRow, 'p50_bucket' | 'p99_bucket'>]>(
      LATENCY_SINCE,
      [hour],
    );
    return row;
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
