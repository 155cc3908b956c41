import type { ModelRow } from '../catalog/model-row.js';
import type { ChargeBasis } from '../common/money/charge-basis.js';
import type { TokenUsage } from '../providers/ports/chat.port.js';

/** Tokens of one call; `isEstimated` where nobody could count them in time: then there are no more than these. */
export interface CountedUsage extends TokenUsage {
  readonly isEstimated: boolean;
}

/** What the charge is made of, for the record of the call. */
export function basisOf(row: ModelRow<'chat'>, usage: CountedUsage): ChargeBasis {
  return {
    unit: 'token',
    quantity: {
      promptTokens: usage.promptTokens,
      cachedTokens: usage.cachedTokens,
      completionTokens: usage.completionTokens,
      reasoningTokens: usage.reasoningTokens,
    },
    unitPrice: {
      inputPerMillion: row.price.inputMicroUsdPerMillion.toString(),
      outputPerMillion: row.price.outputMicroUsdPerMillion.toString(),
    },
    isEstimated: usage.isEstimated,
  };
}
