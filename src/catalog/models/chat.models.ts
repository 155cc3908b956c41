import type { ModelRow } from '../model-row.js';

type ChatModel = Pick<ModelRow<'chat'>, 'limits' | 'hiddenReasoning' | 'minOutputTokens' | 'terms'>;

/** For models without a number of their own. */
export const MIN_OUTPUT_TOKENS = 1_024;

const REASONING: ChatModel = {
  limits: { maxOutputTokens: 128_000, contextLength: 400_000 },
  hiddenReasoning: true,
  minOutputTokens: 4_096,
  terms: { outputCapParameter: 'max_completion_tokens' },
};
const PLAIN: ChatModel = {
  limits: { maxOutputTokens: 32_768, contextLength: 1_047_576 },
  hiddenReasoning: false,
  minOutputTokens: MIN_OUTPUT_TOKENS,
};

const chat = (
  id: string,
  upstreamModel: string,
  [inputMicroUsdPerMillion, cachedInputMicroUsdPerMillion, outputMicroUsdPerMillion]: readonly [
    bigint,
    bigint,
    bigint,
  ],
  model: ChatModel,
): ModelRow<'chat'> => ({
  id,
  operation: 'chat',
  routes: [{ provider: 'openai', upstreamModel }],
  price: {
    unit: 'token',
    inputMicroUsdPerMillion,
    cachedInputMicroUsdPerMillion,
    outputMicroUsdPerMillion,
  },
  ...model,
  enabled: true,
});

/** Text models (decisions G-23, G-24, G-91). */
export const CHAT_MODELS = [
  chat('gen-5', 'gpt-5', [1_250_000n, 125_000n, 10_000_000n], REASONING),
  chat('gen-5-mini', 'gpt-5-mini', [250_000n, 25_000n, 2_000_000n], REASONING),
  chat('gen-4-mini', 'gpt-4.1-mini', [400_000n, 100_000n, 1_600_000n], PLAIN),
] as const satisfies readonly ModelRow<'chat'>[];
