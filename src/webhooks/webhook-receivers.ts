import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { transaction } from '../platform/database/transaction.js';
import { HOST_OF_DELIVERY, MAX_LOOKED_AT } from './delivery-statements.js';

/** Most deliveries that one request makes due. */
export const MAX_REDELIVERED = 10_000;
/** Deliveries of one statement, so that each holds its locks for a moment only. */
const REDELIVERED_AT_ONCE = 1_000;
/** So many deliveries, the newest of the time, are summed up. */
export const MAX_SUMMED = 20_000;

/** Which failed deliveries to send again; all filters must hold. */
export interface FailedFilter {
  /** Host of the URL, with its port where it names one. */
  readonly host?: string | undefined;
  readonly accountId?: string | undefined;
  /** Whose last attempt began at this time or later. */
  readonly failedAfter: Date;
}

/** What the deliveries to one host came to. */
export interface ReceiverSum {
  readonly host: string;
  readonly accounts: number;
  readonly deliveries: number;
  readonly delivered: number;
  readonly pending: number;
  readonly failed: number;
  readonly attempts: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** How long the longest due delivery waits; null where none is due. */
  readonly lagSeconds: number | null;
}

/** The sums of all receivers, and from when on deliveries are in them. */
export interface ReceiverSums {
  readonly receivers: readonly ReceiverSum[];
  readonly since: Date;
  /** Whether all deliveries of the time are in them. */
  readonly isComplete: boolean;
}

const FAILED = `
  SELECT id FROM (
    SELECT id, account_id, origin, created_at FROM webhook_delivery
     WHERE status = 'failed' AND ($1::uuid IS NULL OR account_id = $1) ORDER BY id DESC LIMIT ${MAX_LOOKED_AT}) f
   WHERE ($2::text IS NULL OR ${HOST_OF_DELIVERY} = $2)
     AND coalesce((SELECT a.started_at FROM webhook_attempt a
                    WHERE a.account_id = f.account_id AND a.delivery_id = f.id ORDER BY a.fence DESC LIMIT 1),
                  f.created_at) >= $3
   ORDER BY id DESC LIMIT ${MAX_REDELIVERED}`;
// As one delivery is sent again by hand: one attempt more, at once.
const REDELIVER = `
  UPDATE webhook_delivery SET status = 'pending', due_at = now(), retry = NULL
   WHERE id = ANY ($1::uuid[]) AND status = 'failed'`;

const SUMS = `
  WITH newest AS MATERIALIZED (
    SELECT account_id, id, ${HOST_OF_DELIVERY} AS host, status, due_at, created_at FROM webhook_delivery
     WHERE id >= $1 ORDER BY id DESC LIMIT ${MAX_SUMMED + 1}
  ), counted AS MATERIALIZED (
    SELECT * FROM newest ORDER BY id DESC LIMIT ${MAX_SUMMED}
  ), tried AS (
    SELECT c.host, count(*)::int AS attempts,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY a.duration_ms) AS p50,
           percentile_disc(0.99) WITHIN GROUP (ORDER BY a.duration_ms) AS p99
      FROM counted c CROSS JOIN LATERAL (
        SELECT duration_ms FROM webhook_attempt w WHERE w.account_id = c.account_id AND w.delivery_id = c.id OFFSET 0) a
     GROUP BY c.host
  )
  SELECT c.host, count(DISTINCT c.account_id)::int AS accounts, count(*)::int AS deliveries,
         count(*) FILTER (WHERE status = 'delivered')::int AS delivered,
         count(*) FILTER (WHERE status = 'pending')::int AS pending,
         count(*) FILTER (WHERE status = 'failed')::int AS failed,
         coalesce(t.attempts, 0) AS attempts, t.p50 AS "p50Ms", t.p99 AS "p99Ms",
         extract(epoch FROM now() - min(due_at) FILTER (WHERE due_at <= now()))::float8 AS "lagSeconds",
         min(min(c.created_at)) OVER () AS first, (SELECT count(*) FROM newest) > ${MAX_SUMMED} AS "isCut"
    FROM counted c LEFT JOIN tried t USING (host)
   GROUP BY c.host, t.attempts, t.p50, t.p99
   ORDER BY failed DESC, pending DESC, c.host`;

interface SumRow extends ReceiverSum {
  readonly first: Date;
  readonly isCut: boolean;
}

/** The receivers of webhooks, for operators: what they were sent, and what failed there once more. */
@Injectable()
export class WebhookReceivers {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Makes failed deliveries due at once, one attempt each, and returns how many: at most 10,000, the newest, among the newest
   * 100,000 that failed. What is delivered or due is left alone.
   */
  async redeliver({ host, accountId, failedAfter }: FailedFilter): Promise<number> {
    const found = await this.dataSource.query<{ readonly id: string }[]>(FAILED, [
      accountId ?? null,
      host ?? null,
      failedAfter,
    ]);
    let count = 0;
    for (let at = 0; at < found.length; at += REDELIVERED_AT_ONCE) {
      const ids = found.slice(at, at + REDELIVERED_AT_ONCE).map(({ id }) => id);
      const [, changed] = await transaction(this.dataSource, (manager) =>
        manager.query<[unknown, number]>(REDELIVER, [ids]),
      );
      count += changed;
    }
    return count;
  }

  /** The sums of what was written since a time, by host; what fails most comes first. */
  async sums(since: Date): Promise<ReceiverSums> {
    const rows = await this.dataSource.query<SumRow[]>(SUMS, [lowestIdOf(since)]);
    const isCut = rows[0]?.isCut ?? false;
    return {
      receivers: rows,
      since: isCut ? (rows[0]?.first ?? since) : since,
      isComplete: !isCut,
    };
  }
}

/** The lowest id of that time: ids of deliveries begin with it. */
function lowestIdOf(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
