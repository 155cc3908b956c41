import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { numberAt } from '../http/json-fields.js';
import type { TokenUsage } from '../ports/chat.port.js';

/** Token counts of a completion or chunk; null when it reports none. */
export function usageOf({ usage }: JsonObject): TokenUsage | null {
  if (!isJsonObject(usage)) return null;
  const promptTokens = numberAt(usage, 'prompt_tokens');
  const completionTokens = numberAt(usage, 'completion_tokens');
  if (promptTokens === null || completionTokens === null) return null;
  return {
    promptTokens,
    completionTokens,
    cachedTokens: detailOf(usage.prompt_tokens_details, 'cached_tokens'),
    reasoningTokens: detailOf(usage.completion_tokens_details, 'reasoning_tokens'),
  };
}

function detailOf(details: unknown, name: string): number | null {
  const count = isJsonObject(details) ? numberAt(details, name) : null;
  return count !== null && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
