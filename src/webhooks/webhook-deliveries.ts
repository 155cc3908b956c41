import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { cursorOf, type Page, pageOf, type PageRequest } from '../common/paging/page.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { Clock } from '../common/time/clock.js';
import type { Delivery, DeliveryAttempt, DeliveryStatus, NewDelivery } from './delivery.js';
import { HOST_OF_DELIVERY, MAX_LOOKED_AT } from './delivery-statements.js';
import type { DeliveredType } from './endpoints/event-type.js';

/** Which deliveries to list. All given fields must match. */
export interface DeliveryFilter {
  readonly ownerId?: string | undefined;
  readonly accountId?: string | undefined;
  /** The endpoint of the account that is told an event. */
  readonly endpointId?: string | undefined;
  readonly event?: DeliveredType | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Host of the URL, with its port where it names one: looked for among the newest 100,000 deliveries. */
  readonly host?: string | undefined;
}

/** The id of a delivery and, if given, the owner and account that it must have. */
interface DeliveryKey {
  readonly id: string;
  readonly ownerId?: string;
  readonly accountId?: string;
}

interface DeliveryRow {
  readonly id: string;
  readonly account_id: string;
  readonly owner_id: string;
  readonly event: string | null;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly due_at: Date | null;
  readonly created_at: Date;
  readonly attempts: readonly AttemptRow[];
}

interface AttemptRow {
  readonly at: string;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
}

/** Most stored attempts of a delivery, the newest ones (see `webhook_record`). */
const MAX_ATTEMPTS = 100;

const ATTEMPTS = `
  (SELECT coalesce(json_agg(json_build_object('at', a.started_at, 'status_code', a.status_code, 'error', a.error,
                                              'duration_ms', a.duration_ms) ORDER BY a.fence), '[]')
     FROM (SELECT * FROM webhook_attempt w WHERE w.account_id = d.account_id AND w.delivery_id = d.id
            ORDER BY w.fence DESC LIMIT ${MAX_ATTEMPTS}) a) AS attempts`;

const listFrom = (source: string) => `
  SELECT d.id, d.account_id, d.owner_id, d.event, d.url, d.status, d.due_at, d.created_at, ${ATTEMPTS}
    FROM ${source} d
   WHERE ($1::uuid IS NULL OR d.owner_id = $1) AND ($2::uuid IS NULL OR d.account_id = $2)
     AND ($3::text IS NULL OR d.status = $3) AND ($4::text IS NULL OR d.event = $4)
     AND ($5::uuid IS NULL OR d.owner_id = $5) AND ($6::uuid IS NULL OR d.id < $6)
   ORDER BY d.id DESC LIMIT $7`;
const LIST = listFrom('webhook_delivery');
// No index has the host: a receiver that is seldom told would have the whole table read.
const LIST_OF_HOST = listFrom(`(
    SELECT * FROM (SELECT * FROM webhook_delivery WHERE $2::uuid IS NULL OR account_id = $2
                    ORDER BY id DESC LIMIT ${MAX_LOOKED_AT}) newest
     WHERE ${HOST_OF_DELIVERY} = $8::text)`);

// A running or due attempt counts as the requested redelivery.
const REDELIVER = `
  UPDATE webhook_delivery
     SET due_at = CASE WHEN is_under_way AND due_at > now() THEN due_at ELSE least(due_at, now()) END,
         retry = CASE WHEN status = 'pending' THEN retry END, status = 'pending'
   WHERE id = $1 AND ($2::uuid IS NULL OR owner_id = $2) AND ($3::uuid IS NULL OR account_id = $3)
  RETURNING *`;

/** Creates, lists and repeats deliveries: bodies that are sent to a URL (API: Webhook events). */
@Injectable()
export class WebhookDeliveries {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * The arguments id, url, origin, sealed secret, body and time of the SQL function `webhook_enqueue`, which adds a delivery
   * that is due at once; account and owner come before them. The caller runs the function in the statement that writes the
   * event. The origin includes the account, because the limits of a receiver are per account.
   */
  columnsOf({ accountId, url, sealedSecret, body }: NewDelivery): unknown[] {
    const nowMs = this.clock.nowMs();
    const origin = this.originOf(accountId, url);
    return [uuidV7(nowMs), url, origin, sealedSecret, body, new Date(nowMs)];
  }

  /** The lane of the account's deliveries to the URL. */
  originOf(accountId: string, url: string): string {
    // Many customers use the same automation service. Hanging deliveries of one must not slow down the others.
    return `${new URL(url).origin} ${accountId}`;
  }

  /** Deliveries with their attempts, newest first; 400 invalid_request for an invalid cursor. */
  async list(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>> {
    const { host } = filter;
    const rows = await this.dataSource.query<DeliveryRow[]>(host ? LIST_OF_HOST : LIST, [
      filter.ownerId ?? null,
      filter.accountId ?? null,
      filter.status ?? null,
      filter.event ?? null,
      filter.endpointId ?? null,
      cursorOf(page, 'uuid'),
      page.limit + 1,
      ...(host ? [host] : []),
    ]);
    return pageOf(rows, page.limit, deliveryOf, (row) => row.id);
  }

  /** The delivery with its attempts, or undefined. */
  async find(id: string): Promise<Delivery | undefined> {
    const [row] = await this.dataSource.query<DeliveryRow[]>(
      `SELECT d.*, ${ATTEMPTS} FROM webhook_delivery d WHERE d.id = $1`,
      [id],
    );
    return row && deliveryOf(row);
  }

  /**
   * Makes the delivery due now: one more attempt if it had ended, otherwise the next attempt of its schedule. Returns the
   * updated delivery, or undefined if there is none.
   */
  async redeliver(key: DeliveryKey): Promise<Delivery | undefined> {
    const [row] = await this.dataSource.query<DeliveryRow[]>(
      `WITH d AS (${REDELIVER}) SELECT d.*, ${ATTEMPTS} FROM d`,
      [key.id, key.ownerId ?? null, key.accountId ?? null],
    );
    return row && deliveryOf(row);
  }
}

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    accountId: row.account_id,
    ownerId: row.owner_id,
    event: row.event,
    url: row.url,
    status: row.status,
    attempts: row.attempts.map(attemptOf),
    nextAttemptAt: row.due_at,
    createdAt: row.created_at,
  };
}

function attemptOf(row: AttemptRow): DeliveryAttempt {
  return {
    startedAt: new Date(row.at),
    statusCode: row.status_code,
    error: row.error,
    durationMs: row.duration_ms,
  };
}
