import type { JsonObject } from '../../common/json-object.js';
import type { TokenUsage } from '../../providers/ports/chat.port.js';
import type { Bill } from '../../text/text-face.js';

/**
 * What a message used (API: Message object). The prompt excludes what came from the vendor's cache and what was written to it, which
 * are counted apart.
 */
export function viewMessageUsage(usage: TokenUsage): JsonObject {
  const { promptTokens, completionTokens, reasoningTokens } = usage;
  const read = Math.min(usage.cachedTokens ?? 0, promptTokens);
  const long = Math.min(usage.cacheWrite1hTokens ?? 0, promptTokens - read);
  const short = Math.min(usage.cacheWriteTokens ?? 0, promptTokens - read - long);
  return {
    input_tokens: promptTokens - read - long - short,
    cache_creation_input_tokens: short + long,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    output_tokens: completionTokens,
    ...(reasoningTokens !== null && {
      output_tokens_details: { thinking_tokens: reasoningTokens },
    }),
    server_tool_use: null,
    service_tier: null,
  };
}

/** The same at the end of a stream, with the charge. */
export function viewStreamUsage({ usage, chargedMicroUsd }: Bill): JsonObject {
  return { ...viewMessageUsage(usage), cost_microusd: Number(chargedMicroUsd) };
}
