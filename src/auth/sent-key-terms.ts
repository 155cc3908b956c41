import type { Catalog } from '../catalog/catalog.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { parseMicroUsd } from '../common/money/micro-usd.js';
import type { KeyTerms } from './api-keys.service.js';
import type { CreateKeyBody } from './dto/key-terms.body.js';
import { DEFAULT_SCOPES, type Scope } from './scope.js';

type Terms = { -readonly [Name in keyof KeyTerms]: KeyTerms[Name] };

/** What the terms of a key were before the request. */
export interface PresentTerms extends Pick<KeyTerms, 'spendLimitMicroUsd' | 'spendLimitPeriod'> {
  /** The key that made it; absent or null = an operator. */
  readonly makerId?: string | null;
}

/** What a request changes: the terms before it, and the fields that it clears. */
export interface KeyChange {
  readonly present: PresentTerms;
  readonly cleared?: ReadonlySet<string> | undefined;
}

/** A key without any limit. */
export const NO_TERMS: KeyTerms = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
  spendLimitMicroUsd: null,
  spendLimitPeriod: null,
};

const CLEARABLE: readonly (readonly [
  keyof CreateKeyBody,
  'name' | 'allowedModels' | 'expiresAt' | 'requestsPerMinute',
])[] = [
  ['name', 'name'],
  ['allowed_models', 'allowedModels'],
  ['expires_at', 'expiresAt'],
  ['requests_per_minute', 'requestsPerMinute'],
];

/**
 * The terms that a request sets or clears. Throws 400 for a model that does not exist, an expiry in the past, a period without
 * a limit, and scope `manage` for a key that another key made.
 */
export function sentKeyTerms(
  body: CreateKeyBody,
  { present, cleared = new Set() }: KeyChange,
  catalog: Catalog,
  nowMs: number,
): Partial<KeyTerms> {
  checkModels(catalog, body.allowed_models);
  const scopes = cleared.has('scopes') ? DEFAULT_SCOPES : body.scopes;
  const terms: Partial<Terms> = {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.allowed_models && { allowedModels: body.allowed_models }),
    ...(body.requests_per_minute !== undefined && { requestsPerMinute: body.requests_per_minute }),
    ...(body.expires_at !== undefined && { expiresAt: expiryOf(body.expires_at, nowMs) }),
    ...(scopes && { scopes: scopesOf(scopes, present) }),
    ...limitTermsOf(body, present, cleared),
  };
  for (const [field, term] of CLEARABLE) if (cleared.has(field)) terms[term] = null;
  return terms;
}

function checkModels(catalog: Catalog, ids: readonly string[] = []): void {
  const unknown = ids.find((id) => catalog.find(id)?.id !== id);
  if (unknown === undefined) return;
  refuse('allowed_models', `allowed_models names ${JSON.stringify(unknown)}, which is no model.`);
}

function expiryOf(epochSeconds: number, nowMs: number): Date {
  const expiry = new Date(epochSeconds * 1000);
  if (expiry.getTime() > nowMs) return expiry;
  return refuse('expires_at', 'expires_at must lie in the future.');
}

function scopesOf(sent: readonly Scope[], { makerId = null }: PresentTerms): readonly Scope[] {
  if (makerId !== null && sent.includes('manage')) {
    refuse('scopes', 'A key that another key made cannot have the scope manage.');
  }
  return [...new Set(sent)];
}

/**
 * Limit and period belong together. A new limit without a period keeps the present period; without any, it counts over
 * the whole life of the key.
 */
function limitTermsOf(
  body: CreateKeyBody,
  present: PresentTerms,
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
