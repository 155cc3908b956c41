import { Injectable } from '@nestjs/common';
import type { ApiKeyRecord } from '../auth/api-key-record.js';
import { ApiKeysService, type IssuedKey } from '../auth/api-keys.service.js';
import type { CreateKeyBody } from '../auth/dto/key-terms.body.js';
import { NO_TERMS, type PresentTerms, sentKeyTerms } from '../auth/sent-key-terms.js';
import { Accounts, leavingAccount } from '../billing/accounts/accounts.js';
import { Catalog } from '../catalog/catalog.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { notFound, pathId } from '../common/ids/id-params.js';
import type { Page } from '../common/paging/page.js';
import type { PageQuery } from '../common/paging/page.query.js';
import { Clock } from '../common/time/clock.js';

/**
 * What operators do with API keys, for both the API and the command line. Ids are public ids; an unknown one is 404.
 */
@Injectable()
export class OperatorKeys {
  constructor(
    private readonly accounts: Accounts,
    private readonly keys: ApiKeysService,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
  ) {}

  /** Throws 400 as {@link sentKeyTerms}, and 409 for an account that moves to another cell. */
  async create(accountId: string, body: CreateKeyBody): Promise<IssuedKey> {
    const account = await this.accounts.get(pathId('acct', accountId));
    if (account.isLeaving) throw leavingAccount();
    return this.keys.issue(account.id, { ...NO_TERMS, ...this.termsOf(body, NO_TERMS) });
  }

  /** Changes the fields in the body and clears those in `cleared`. Throws as `create`, and 409 for a revoked key. */
  async update(id: string, body: CreateKeyBody, cleared: ReadonlySet<string>) {
    const key = await this.keys.update(pathId('key', id), (present) =>
      this.termsOf(body, present, cleared),
    );
    if (key === 'revoked') throw new GatewayError('conflict', 'The key is revoked.');
    if (key === undefined) throw notFound('key');
    return key;
  }

  async get(id: string): Promise<ApiKeyRecord> {
    const key = await this.keys.find(pathId('key', id));
    if (key === undefined) throw notFound('key');
    return key;
  }

  async list(accountId: string, query: PageQuery): Promise<Page<ApiKeyRecord>> {
    const account = await this.accounts.get(pathId('acct', accountId));
    return this.keys.page(account.id, query);
  }

  async revoke(id: string): Promise<void> {
    if (!(await this.keys.revoke(pathId('key', id)))) throw notFound('key');
  }

  /** Throws 409 for a key that is in its overlap already. */
  async rotate(id: string, overlapSeconds: number): Promise<IssuedKey> {
    const issued = await this.keys.rotate(pathId('key', id), overlapSeconds * 1000);
    if (!issued) throw notFound('key');
    return issued;
  }

  private termsOf(body: CreateKeyBody, present: PresentTerms, cleared?: ReadonlySet<string>) {
    return sentKeyTerms(body, { present, cleared }, this.catalog, this.clock.nowMs());
  }
}
