import { Injectable } from '@nestjs/common';
import { Accounts } from '../billing/accounts/accounts.js';
import { pathId } from '../common/ids/id-params.js';
import type { Page } from '../common/paging/page.js';
import type { PageQuery } from '../common/paging/page.query.js';
import type { Delivery } from '../webhooks/delivery.js';
import type { WebhookEndpointBody } from '../webhooks/endpoints/webhook-endpoint.body.js';
import { type WebhookEndpoint, WebhookEndpoints } from '../webhooks/endpoints/webhook-endpoints.js';

/**
 * What operators do with the webhook endpoints of accounts, for both the API and the command line. Ids are public ids; an unknown
 * one is 404. Where an account is named, the endpoint must be one of it.
 */
@Injectable()
export class OperatorEndpoints {
  constructor(
    private readonly accounts: Accounts,
    private readonly endpoints: WebhookEndpoints,
  ) {}

  /** Newest first. */
  async list(accountId: string, query: PageQuery): Promise<Page<WebhookEndpoint>> {
    const account = await this.accounts.get(pathId('acct', accountId));
    return this.endpoints.list(account.id, query);
  }

  /** Throws 400 and 409 as {@link WebhookEndpoints.create}. */
  async create(accountId: string, body: WebhookEndpointBody): Promise<WebhookEndpoint> {
    const account = await this.accounts.get(pathId('acct', accountId));
    return this.endpoints.create(account.id, body);
  }

  get(id: string, accountId?: string): Promise<WebhookEndpoint> {
    const account = accountId === undefined ? undefined : pathId('acct', accountId);
    return this.endpoints.get(account, pathId('whe', id));
  }

  async delete(id: string, accountId?: string): Promise<void> {
    const endpoint = await this.get(id, accountId);
    await this.endpoints.delete(endpoint.accountId, endpoint.id);
  }

  /** Throws 409 as {@link WebhookEndpoints.test}. */
  async test(id: string, accountId?: string): Promise<Delivery> {
    const endpoint = await this.get(id, accountId);
    return this.endpoints.test(endpoint.accountId, endpoint.id);
  }
}
