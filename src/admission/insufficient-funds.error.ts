import type { Caller } from '../auth/caller.js';
import { spendLimitMessage } from '../auth/spend-limit.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type ApiFamily, API_FAMILY_CODES } from '../common/errors/api-family.js';

/** 402 with the code of the API family: the price exceeds the balance or the key's own limit (decisions G-06, G-99). */
export function insufficientFundsError(
  surface: ApiFamily,
  outcome: 'insufficient' | 'over_limit',
  { spendLimit, isStale: isStale }: Pick<Caller, 'spendLimit' | 'isStale'>,
  nowMs: number,
): GatewayError {
  return new GatewayError(API_FAMILY_CODES[surface].insufficient, messageOf());

  function messageOf(): string {
    if (outcome === 'insufficient') return 'The balance cannot cover this request.';
    // The limit may have been set or changed since the request was admitted.
    if (!spendLimit || isStale) return 'This costs more than is left of what the key may spend.';
    return spendLimitMessage(spendLimit, nowMs);
  }
}
