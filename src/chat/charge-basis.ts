import type { ModelRow } from '../catalog/model-row.js';
import type { ChargeBasis } from '../executions/execution-steps.js';
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
      prompt_tokens: usage.promptTokens,
      cached_tokens: usage.cachedTokens,
      completion_tokens: usage.completionTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
    unitPrice: {
      input_per_million: row.price.inputMicroUsdPerMillion.toString(),
      output_per_million: row.price.outputMicroUsdPerMillion.toString(),
    },
    isEstimated: usage.isEstimated,
  };
}
