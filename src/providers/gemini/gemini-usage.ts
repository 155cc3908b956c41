import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { listAt } from '../http/json-fields.js';
import type { TokenUsage } from '../ports/chat.port.js';

/** Ten times the longest context that a row may have. Sums of several such counts are exact in a double. */
const MAX_COUNT = 1_000_000_000;

/**
 * Tokens of an answer or of an event; null where it reports none. The prompt includes what was cached; prompts of tools
 * are beside it, and thoughts are beside the candidates. What the total has beyond these is `surplusTokens` (decision
 * G-23).
 */
export function geminiUsageOf({ usageMetadata: usage }: JsonObject): TokenUsage | null {
  if (!isJsonObject(usage)) return null;
  const named = countAt(usage, 'promptTokenCount');
  if (named === null) return null;
  const thoughts = countAt(usage, 'thoughtsTokenCount');
  const cached = countAt(usage, 'cachedContentTokenCount');
  const promptTokens = named + (countAt(usage, 'toolUsePromptTokenCount') ?? 0);
  const completionTokens = (countAt(usage, 'candidatesTokenCount') ?? 0) + (thoughts ?? 0);
  const total = countAt(usage, 'totalTokenCount') ?? 0;
  const surplusTokens = total - promptTokens - completionTokens;
  const imageTokens = tokensOfModality(usage, 'IMAGE');
  return {
    promptTokens,
    completionTokens,
    cachedTokens: cached === null ? null : Math.min(cached, promptTokens),
    reasoningTokens: thoughts,
    ...(imageTokens !== null && { imageTokens }),
    ...(surplusTokens > 0 && { surplusTokens }),
  };
}

function tokensOfModality(usage: JsonObject, modality: string): number | null {
  const detail = listAt(usage, 'promptTokensDetails')?.find((row) => row.modality === modality);
  return detail ? countAt(detail, 'tokenCount') : null;
}

/** A larger number is an error of the vendor, and is ignored. */
function countAt(object: JsonObject, name: string): number | null {
  const value = object[name];
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount && (value as number) <= MAX_COUNT ? (value as number) : null;
}
