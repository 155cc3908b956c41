import { Inject, Injectable } from '@nestjs/common';
import type { ApiKeyRecord } from '../auth/api-key-record.js';
import { ApiKeysService, type IssuedKey, type KeyTerms } from '../auth/api-keys.service.js';
import type { Caller } from '../auth/caller.js';
import type { CreateKeyBody } from '../auth/dto/key-terms.body.js';
import { MadeKeys } from '../auth/made-keys.js';
import { type KeyChange, sentKeyTerms } from '../auth/sent-key-terms.js';
import { Catalog } from '../catalog/catalog.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { notFound, pathId } from '../common/ids/id-params.js';
import type { Page } from '../common/paging/page.js';
import type { PageQuery } from '../common/paging/page.query.js';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { inheritedTerms, refuseMoreThan } from './maker-power.js';

/**
 * What a key with scope `manage` does with the keys of its account: it reads all, makes keys with no more power, limit or
 * life than it has, and changes and revokes those (API: GET /v1/keys). Ids are public ids; an unknown or foreign one is 404.
 */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly made: MadeKeys,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'rateLimitRpm'>,
  ) {}

  list({ accountId }: Caller, query: PageQuery): Promise<Page<ApiKeyRecord>> {
    return this.keys.page(accountId, query);
  }

  async get({ accountId }: Caller, id: string): Promise<ApiKeyRecord> {
    const key = await this.keys.find(pathId('key', id));
    if (key?.accountId !== accountId) throw notFound('key');
    return key;
  }

  /**
   * What the body does not name is as the caller's key has it. Throws 400 as {@link sentKeyTerms}, 403 `permission_denied` for
   * a term beyond the caller's own, 409 above 100 live keys.
   */
  create({ apiKeyId }: Caller, body: CreateKeyBody): Promise<IssuedKey> {
    return this.made.make(apiKeyId, (maker) => {
      const inherited = inheritedTerms(maker);
      const terms = { ...inherited, ...this.termsOf(body, { present: inherited }) };
      refuseMoreThan(maker, terms, this.config.rateLimitRpm);
      return terms;
    });
  }

  /** Changes a key that the caller's key made, or the name of the caller's own. Throws as `create`. */
  update(
    { apiKeyId }: Caller,
    id: string,
    body: CreateKeyBody,
    cleared: ReadonlySet<string>,
  ): Promise<ApiKeyRecord> {
    return this.made.update(apiKeyId, pathId('key', id), (present, maker) => {
      if (present.id === maker.id) refuseOwnTerms(body, cleared);
      const terms = this.termsOf(body, { present, cleared });
      const isSameLimit =
        terms.spendLimitMicroUsd === present.spendLimitMicroUsd &&
        terms.spendLimitPeriod === present.spendLimitPeriod;
      const { spendLimitMicroUsd: _kept, spendLimitPeriod: _too, ...others } = terms;
      refuseMoreThan(maker, isSameLimit ? others : terms, this.config.rateLimitRpm);
      return terms;
    });
  }

  revoke({ apiKeyId }: Caller, id: string): Promise<void> {
    return this.made.revoke(apiKeyId, pathId('key', id));
  }

  private termsOf(body: CreateKeyBody, change: KeyChange): Partial<KeyTerms> {
    return sentKeyTerms(body, change, this.catalog, this.clock.nowMs());
  }
}

/** Throws 403 for every field but the name: a key changes no terms of its own. */
function refuseOwnTerms(body: CreateKeyBody, cleared: ReadonlySet<string>): void {
  const sent = Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : name));
  const param = [...sent, ...cleared].find((name) => name !== 'name');
  if (param === undefined) return;
  throw new GatewayError('permission_denied', `A key changes only its own name, not ${param}.`, {
    param,
  });
}
