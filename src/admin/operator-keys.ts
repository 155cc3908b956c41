import { Injectable } from '@nestjs/common';
import type { ApiKeyRecord } from '../auth/api-key-record.js';
import { ApiKeysService, type IssuedKey, type KeyTerms } from '../auth/api-keys.service.js';
import { Accounts } from '../billing/accounts/accounts.js';
import { Catalog } from '../catalog/catalog.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { notFound, pathId } from '../common/ids/id-params.js';
import { parseMicroUsd } from '../common/money/micro-usd.js';
import { cursorOf, type Page, pageOf } from '../common/paging/page.js';
import type { PageQuery } from '../common/paging/page.query.js';
import { Clock } from '../common/time/clock.js';
import type { CreateKeyBody } from './dto/admin.bodies.js';

type Terms = { -readonly [Name in keyof KeyTerms]: KeyTerms[Name] };
type Field = keyof CreateKeyBody;

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

  /** Throws 400 for a model that does not exist, an expiry in the past, a period without a limit. */
  async create(accountId: string, body: CreateKeyBody): Promise<IssuedKey> {
    const account = await this.accounts.get(pathId('acct', accountId));
    const terms = this.termsOf(body, NO_TERMS, new Set());
    return this.keys.issue(account.id, { ...NO_TERMS, ...terms });
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
    const before = cursorOf(query, 'uuid') ?? undefined;
    const rows = await this.keys.list(account.id, query.limit + 1, before);
    return pageOf(
      rows,
      query.limit,
      (row) => row,
      (row) => row.id,
    );
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

  /** The terms that the body changes or clears. */
  private termsOf(
    body: CreateKeyBody,
    present: Pick<KeyTerms, 'spendLimitMicroUsd' | 'spendLimitPeriod'>,
    cleared: ReadonlySet<string>,
  ): Partial<KeyTerms> {
    this.checkModels(body.allowed_models);
    const terms: Partial<Terms> = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.allowed_models && { allowedModels: body.allowed_models }),
      ...(body.requests_per_minute !== undefined && {
        requestsPerMinute: body.requests_per_minute,
      }),
      ...(body.expires_at !== undefined && { expiresAt: this.expiryOf(body.expires_at) }),
      ...limitTermsOf(body, present, cleared),
    };
    for (const [field, term] of CLEARABLE) if (cleared.has(field)) terms[term] = null;
    return terms;
  }

  private checkModels(ids: readonly string[] = []): void {
    const unknown = ids.find((id) => this.catalog.find(id)?.id !== id);
    if (unknown === undefined) return;
    refuse('allowed_models', `allowed_models names ${JSON.stringify(unknown)}, which is no model.`);
  }

  private expiryOf(epochSeconds: number): Date {
    const expiry = new Date(epochSeconds * 1000);
    if (expiry.getTime() > this.clock.nowMs()) return expiry;
    return refuse('expires_at', 'expires_at must lie in the future.');
  }
}

const NO_TERMS: KeyTerms = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
  spendLimitMicroUsd: null,
  spendLimitPeriod: null,
};

const CLEARABLE: readonly (readonly [
  Field,
  'name' | 'allowedModels' | 'expiresAt' | 'requestsPerMinute',
])[] = [
  ['name', 'name'],
  ['allowed_models', 'allowedModels'],
  ['expires_at', 'expiresAt'],
  ['requests_per_minute', 'requestsPerMinute'],
];

/**
 * Limit and period belong together. A new limit without a period keeps the present period; without any, it counts over
 * the whole life of the key.
 */
function limitTermsOf(
  body: CreateKeyBody,
  present: Pick<KeyTerms, 'spendLimitMicroUsd' | 'spendLimitPeriod'>,
  cleared: ReadonlySet<string>,
): Partial<KeyTerms> {
  const { spend_limit_microusd: limit, spend_limit_period: period } = body;
  const field = 'spend_limit_period';
  if (cleared.has('spend_limit_microusd')) {
    if (period !== undefined) refuse(field, `${field} needs spend_limit_microusd.`);
    return { spendLimitMicroUsd: null, spendLimitPeriod: null };
  }
  const amount = limit === undefined ? present.spendLimitMicroUsd : parseMicroUsd(limit);
  if (amount === undefined || amount === null) {
    if (period !== undefined) refuse(field, `${field} needs spend_limit_microusd.`);
    return {};
  }
  const kept = cleared.has(field) ? undefined : present.spendLimitPeriod;
  return { spendLimitMicroUsd: amount, spendLimitPeriod: period ?? kept ?? 'total' };
}

function refuse(param: string, message: string): never {
  throw new GatewayError('invalid_request', message, { param });
}
