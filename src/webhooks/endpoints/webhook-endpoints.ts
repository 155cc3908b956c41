import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { notFound } from '../../common/ids/id-params.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { cursorOf, type Page, pageOf, type PageRequest } from '../../common/paging/page.js';
import { Clock } from '../../common/time/clock.js';
import { transaction } from '../../platform/database/transaction.js';
import type { Delivery } from '../delivery.js';
import { WebhookDeliveries } from '../webhook-deliveries.js';
import { WebhookSecrets } from '../webhook-secrets.js';
import { WebhookUrlPolicy } from '../webhook-url-policy.js';
import type { EventType } from './event-type.js';

/** Most endpoints of an account. */
const MAX_ENDPOINTS = 10;
/** Most tests of an account that are not delivered and may be tried again. They cost nothing, so nothing else bounds them. */
const MAX_PENDING_TESTS = 10;

/** An endpoint without its secret. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly createdAt: Date;
}

/** What is decided about a new endpoint. */
export interface NewEndpoint {
  readonly url: string;
  readonly secret: string;
  readonly events: readonly EventType[];
}

interface EndpointRow {
  readonly id: string;
  readonly account_id: string;
  readonly url: string;
  readonly events: EventType[];
  readonly created_at: Date;
}

const INSERT = `
  INSERT INTO webhook_endpoint (account_id, id, url, origin, sealed_secret, events, created_at)
  SELECT $1, $2, $3, $4, $5, $6, $7
   WHERE (SELECT count(*) FROM webhook_endpoint WHERE account_id = $1) < ${MAX_ENDPOINTS}
  RETURNING *`;
const LIST = `
  SELECT * FROM webhook_endpoint WHERE account_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`;
const FIND = `
  SELECT * FROM webhook_endpoint WHERE id = $2 AND ($1::uuid IS NULL OR account_id = $1)`;
/** The test goes to this endpoint alone, whatever events it asks for. */
const TEST = `SELECT event_tell($1, 'test', '{}', $2) AS id`;
/** Their index has only deliveries that are to be tried. */
const PENDING_TESTS = `
  SELECT count(*)::int AS count FROM webhook_delivery WHERE account_id = $1 AND due_at IS NOT NULL AND event = 'test'`;
/** What is made at once is counted one after the other. */
const LOCK_ACCOUNT = 'SELECT FROM account WHERE id = $1 FOR NO KEY UPDATE';

/**
 * The endpoints that are told the events of an account: one delivery for each, made, signed and repeated as the webhook of a
 * task is (API: Events of an account).
 */
@Injectable()
export class WebhookEndpoints {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly secrets: WebhookSecrets,
    private readonly policy: WebhookUrlPolicy,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  /** Throws 400 naming `url` for one that no webhook may go to (decision G-80), 409 `conflict` for an eleventh endpoint. */
  async create(accountId: string, { url, secret, events }: NewEndpoint): Promise<WebhookEndpoint> {
    await this.policy.resolve(url, 'account');
    const nowMs = this.clock.nowMs();
    const id = uuidV7(nowMs);
    const sealed = this.secrets.seal(secret, id);
    const origin = this.deliveries.originOf(accountId, url);
    const row = await transaction(this.dataSource, async (manager) => {
      await manager.query(LOCK_ACCOUNT, [accountId]);
      const terms = [accountId, id, url, origin, sealed, [...new Set(events)], new Date(nowMs)];
      return (await manager.query<EndpointRow[]>(INSERT, terms))[0];
    });
    if (row) return endpointOf(row);
    const message = `An account has at most ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`;
    throw new GatewayError('conflict', message);
  }

  /** Newest first; 400 invalid_request for an invalid cursor. */
  async list(accountId: string, page: PageRequest): Promise<Page<WebhookEndpoint>> {
    const terms = [accountId, cursorOf(page, 'uuid'), page.limit + 1];
    const rows = await this.dataSource.query<EndpointRow[]>(LIST, terms);
    return pageOf(rows, page.limit, endpointOf, ({ id }) => id);
  }

  /** Of this account or, where it is undefined, of any. Throws 404 `not_found` for an unknown or foreign id. */
  async get(accountId: string | undefined, id: string): Promise<WebhookEndpoint> {
    const [row] = await this.dataSource.query<EndpointRow[]>(FIND, [accountId ?? null, id]);
    if (row === undefined) throw notFound('whe');
    return endpointOf(row);
  }

  /** What it was told before is still delivered. Throws 404 `not_found`. */
  async delete(accountId: string, id: string): Promise<void> {
    const [, deleted] = await this.dataSource.query<[unknown, number]>(
      'DELETE FROM webhook_endpoint WHERE account_id = $1 AND id = $2',
      [accountId, id],
    );
    if (deleted === 0) throw notFound('whe');
  }

  /** Sends an event of type `test`. Throws 404 `not_found`, 409 `conflict` while 10 tests of the account are not delivered. */
  async test(accountId: string, id: string): Promise<Delivery> {
    await this.get(accountId, id);
    const row = await transaction(this.dataSource, async (manager) => {
      await manager.query(LOCK_ACCOUNT, [accountId]);
      const [pending] = await manager.query<{ count: number }[]>(PENDING_TESTS, [accountId]);
      if (pending && pending.count >= MAX_PENDING_TESTS) throw tooManyTests();
      return (await manager.query<{ readonly id: string }[]>(TEST, [accountId, id]))[0];
    });
    if (row === undefined) throw notFound('whe');
    const delivery = await this.deliveries.find(row.id);
    assert(delivery, 'the delivery that was just written is there');
    return delivery;
  }
}

function endpointOf(row: EndpointRow): WebhookEndpoint {
  const { id, account_id: accountId, url, events, created_at: createdAt } = row;
  return { id, accountId, url, events, createdAt };
}

function tooManyTests(): GatewayError {
  const message = `${MAX_PENDING_TESTS} tests of this account are not delivered yet. See GET /v1/webhook-deliveries?status=pending.`;
  return new GatewayError('conflict', message);
}
