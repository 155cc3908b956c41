import type { JsonObject } from '../common/json-object.js';
import { usdOf } from '../common/money/micro-usd.js';
import type { Bill } from '../text/text-face.js';

/** The usage object of a response: our totals, the details that the provider counted, and the settled charge. */
export function viewChatUsage({
  usage,
  chargedMicroUsd,
}: Pick<Bill, 'usage' | 'chargedMicroUsd'>): JsonObject {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  const prompt = {
    ...usage.promptDetails,
    ...(cachedTokens !== null && { cached_tokens: cachedTokens }),
  };
  const completion = {
    ...usage.completionDetails,
    ...(reasoningTokens !== null && { reasoning_tokens: reasoningTokens }),
  };
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(Object.keys(completion).length > 0 && { completion_tokens_details: completion }),
    cost: usdOf(chargedMicroUsd),
    cost_microusd: Number(chargedMicroUsd),
  };
}
