import type { ModelRow } from '../model-row.js';

const chat = (
  id: string,
  upstreamModel: string,
  inputMicroUsdPerMillion: bigint,
  outputMicroUsdPerMillion: bigint,
): ModelRow<'chat'> => ({
  id,
  operation: 'chat',
  routes: [{ provider: 'openai', upstreamModel }],
  price: { unit: 'token', inputMicroUsdPerMillion, outputMicroUsdPerMillion },
  limits: { maxOutputTokens: 128_000 },
  enabled: true,
});

/** Text models (decisions G-23, G-91). */
export const CHAT_MODELS = [
  chat('gen-5', 'gpt-5', 1_250_000n, 10_000_000n),
  chat('gen-5-mini', 'gpt-5-mini', 250_000n, 2_000_000n),
] as const satisfies readonly ModelRow<'chat'>[];
