import type { AdmittedCall } from '../../admission/admitted-call.js';
import { insufficientFundsError } from '../../admission/insufficient-funds.error.js';
import { apiFamilyOf } from '../../catalog/operations.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { Unfunded } from './execution-commands.js';

/** The 402 of a call for which too little is available. It needs its floor, where it would hold what fits. */
export function holdRefusal(
  { endpoint, caller }: AdmittedCall,
  { amountMicroUsd, fit, outputCapFor }: Quote,
  { outcome, availableMicroUsd }: Unfunded,
  nowMs: number,
): GatewayError {
  const shortage = {
    outcome,
    neededMicroUsd: fit?.floorMicroUsd ?? amountMicroUsd,
    availableMicroUsd,
    maxTokens: outputCapFor?.(availableMicroUsd),
  };
  return insufficientFundsError(apiFamilyOf(endpoint), shortage, caller, nowMs);
}
