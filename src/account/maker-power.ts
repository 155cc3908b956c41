import type { ApiKeyRecord } from '../auth/api-key-record.js';
import type { KeyTerms } from '../auth/api-keys.service.js';
import { DEFAULT_SCOPES, type Scope } from '../auth/scope.js';
import { GatewayError } from '../common/errors/gateway-error.js';

/** What a key gets from its maker where the request says nothing: everything but its name and its right to make keys. */
export function inheritedTerms(maker: ApiKeyRecord): KeyTerms {
  return {
    name: null,
    allowedModels: maker.allowedModels,
    expiresAt: maker.expiresAt,
    requestsPerMinute: maker.requestsPerMinute,
    spendLimitMicroUsd: maker.spendLimitMicroUsd,
    spendLimitPeriod: maker.spendLimitPeriod,
    scopes: DEFAULT_SCOPES.filter((scope) => maker.scopes.includes(scope)),
  };
}

/**
 * Throws 403 `permission_denied`, naming the field, for a term that goes beyond the maker's own. `requestsByDefault` is the rate
 * limit of keys that have none of their own, 0 for no limit.
 */
export function refuseMoreThan(
  maker: ApiKeyRecord,
  terms: Partial<KeyTerms>,
  requestsByDefault: number,
): void {
  const requestsOf = (own: number | null) => (own ?? requestsByDefault) || Infinity;
  const beyond: readonly (readonly [keyof typeof FIELDS, boolean])[] = [
    ['scopes', terms.scopes !== undefined && !maySpare(maker, terms.scopes)],
    ['allowedModels', isBeyond(terms.allowedModels, maker.allowedModels, hasOthers)],
    ['expiresAt', isBeyond(terms.expiresAt, maker.expiresAt, (own, most) => own > most)],
    [
      'requestsPerMinute',
      terms.requestsPerMinute !== undefined &&
        requestsOf(terms.requestsPerMinute) > requestsOf(maker.requestsPerMinute),
    ],
    [
      'spendLimitMicroUsd',
      isBeyond(terms.spendLimitMicroUsd, maker.spendLimitMicroUsd, (own, most) => own > most),
    ],
  ];
  const [first] = beyond.find(([, isMore]) => isMore) ?? [];
  if (first !== undefined) throw moreThanOwn(first);
}

const FIELDS = {
  scopes: 'scopes',
  allowedModels: 'allowed_models',
  expiresAt: 'expires_at',
  requestsPerMinute: 'requests_per_minute',
  spendLimitMicroUsd: 'spend_limit_microusd',
} as const;

/** Whether the maker may give these scopes away: some that it has, and not manage. */
const maySpare = (maker: ApiKeyRecord, scopes: readonly Scope[]): boolean =>
  scopes.length > 0 && scopes.every((scope) => scope !== 'manage' && maker.scopes.includes(scope));

/** Null is no bound. An absent term stays as it is. */
function isBeyond<T>(
  own: T | null | undefined,
  most: T | null,
  isMore: (own: T, most: T) => boolean,
): boolean {
  if (own === undefined || most === null) return false;
  return own === null || isMore(own, most);
}

const hasOthers = (own: readonly string[], most: readonly string[]): boolean =>
  own.some((id) => !most.includes(id));

function moreThanOwn(term: keyof typeof FIELDS): GatewayError {
  const param = FIELDS[term];
  const why =
    term === 'scopes'
      ? 'A key gives only scopes that it has, and never manage.'
      : 'A key gives no more than it has itself.';
  return new GatewayError('permission_denied', `${param} goes beyond this key's own. ${why}`, {
    param,
  });
}
