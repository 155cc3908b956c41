import { type SpendLimit, spendLimitMessage } from '../auth/spend-limit.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type Surface, SURFACE_CODES } from '../common/errors/surface.js';

/**
 * 402 with the surface's code: the price is more than the balance or than the key's own limit allows (decisions G-06,
 * G-99).
 */
export function unaffordable(
  surface: Surface,
  limit: SpendLimit | undefined,
  nowMs: number,
): GatewayError {
  const message = limit
    ? spendLimitMessage(limit, nowMs)
    : 'The balance cannot cover this request.';
  return new GatewayError(SURFACE_CODES[surface].insufficient, message);
}
