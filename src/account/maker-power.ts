import type { ApiKeyRecord } from '../auth/api-key-record.js';
import type { KeyTerms } from '../auth/api-keys.service.js';
import { DEFAULT_SCOPES, type Scope } from '../auth/scope.js';
import type { SpendPeriod } from '../auth/spend-limit.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { MicroUsd } from '../common/money/micro-usd.js';

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
    ['spendLimitPeriod', isSpentSooner(terms, maker)],
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
  spendLimitPeriod: 'spend_limit_period',
} as const;

const MOST_DAYS_OF_MONTH = 31n;
const LENGTH: Readonly<Record<SpendPeriod, number>> = { day: 1, month: 2, total: 3 };

/**
 * Whether a limit begins anew so often that it allows more than the maker's within the maker's period: 10 USD a day are more than
 * 10 USD a month. What the key spends counts for its maker too, so the maker's own limit would end it all the same.
 */
function isSpentSooner(terms: Partial<KeyTerms>, maker: ApiKeyRecord): boolean {
  const { spendLimitMicroUsd: own, spendLimitPeriod: period } = terms;
  const { spendLimitMicroUsd: most, spendLimitPeriod: makerPeriod } = maker;
  if (!period || !makerPeriod || own === undefined || own === null || most === null) return false;
  if (LENGTH[period] >= LENGTH[makerPeriod]) return false;
  return makerPeriod === 'total' ? own > 0n : mostInMonth(own) > most;
}

/** The most that a limit of a day allows in a month. */
const mostInMonth = (ofDay: MicroUsd): MicroUsd => ofDay * MOST_DAYS_OF_MONTH;

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

const REASONS: Partial<Record<keyof typeof FIELDS, string>> = {
  scopes: 'A key gives only scopes that it has, and never manage.',
  spendLimitPeriod:
    "A limit that begins anew sooner than this key's allows more in all: send this key's period, or for a limit a day of one a month at most a 31st part.",
};

function moreThanOwn(term: keyof typeof FIELDS): GatewayError {
  const param = FIELDS[term];
  const why = REASONS[term] ?? 'A key gives no more than it has itself.';
  return new GatewayError('permission_denied', `${param} goes beyond this key's own. ${why}`, {
    param,
  });
}
