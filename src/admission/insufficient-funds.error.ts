import type { Caller } from '../auth/caller.js';
import { spendLimitMessage } from '../auth/spend-limit.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import { type ApiFamily, API_FAMILY_CODES } from '../common/errors/api-family.js';

/**
 * 402 with the code of the API family: the price exceeds the balance, or what is left of the key's own limit, which `param`
 * names (decisions G-06, G-99).
 */
export function insufficientFundsError(
  surface: ApiFamily,
  outcome: 'insufficient' | 'over_limit',
  { spendLimit, isStale: isStale }: Pick<Caller, 'spendLimit' | 'isStale'>,
  { priceMicroUsd, nowMs }: { readonly priceMicroUsd: MicroUsd; readonly nowMs: number },
): GatewayError {
  const price = `This request may cost ${formatMicroUsd(priceMicroUsd)} micro-USD`;
  return new GatewayError(API_FAMILY_CODES[surface].insufficient, messageOf(), {
    param: outcome === 'over_limit' ? 'spend_limit' : null,
  });

  function messageOf(): string {
    if (outcome === 'insufficient') {
      return `${price}, more than is available. GET /v1/account tells what is.`;
    }
    // The limit may have been set or changed since the request was admitted.
    if (!spendLimit || isStale) return `${price}, more than is left of what the key may spend.`;
    return `${price}. ${spendLimitMessage(spendLimit, nowMs)}`;
  }
}
