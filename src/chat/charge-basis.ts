import type { ModelRow } from '../catalog/model-row.js';
import type { ChargeBasis } from '../common/money/charge-basis.js';
import type { TokenUsage } from '../providers/ports/chat.port.js';

/**
 * Tokens of one call. With `isEstimated`, the tokens could not be counted in time and the numbers are upper bounds, or
 * a model with hidden reasoning reported no usage and the numbers are those of the text alone.
 */
export interface CountedUsage extends TokenUsage {
  readonly isEstimated: boolean;
}

/** How the charge is computed, for the record of the call. */
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
