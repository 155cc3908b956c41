import type { LoadedCatalog } from '../catalog-file.js';
import type { ModelRow } from '../model-row.js';

/** A model whose reasoning nobody sees: only its usage tells of it. */
const THINKING: ModelRow<'chat'> = {
  id: 'gen-think',
  operation: 'chat',
  routes: [{ provider: 'openai', upstreamModel: 'think' }],
  price: {
    unit: 'token',
    inputMicroUsdPerMillion: 1_000_000n,
    cachedInputMicroUsdPerMillion: 100_000n,
    outputMicroUsdPerMillion: 8_000_000n,
  },
  limits: { maxOutputTokens: 64_000, contextLength: 200_000 },
  hiddenReasoning: true,
  minOutputTokens: 4_096,
  enabled: true,
};

/** A model that speaks Messages, thinks, and caches prompts. */
const CLAUDE_LIKE: ModelRow<'chat'> = {
  id: 'gen-claude-like',
  operation: 'chat',
  routes: [{ provider: 'anthropic', upstreamModel: 'claude-like' }],
  price: {
    unit: 'token',
    inputMicroUsdPerMillion: 3_000_000n,
    cachedInputMicroUsdPerMillion: 300_000n,
    cacheWriteMicroUsdPerMillion: 3_750_000n,
    cacheWrite1hMicroUsdPerMillion: 6_000_000n,
    outputMicroUsdPerMillion: 15_000_000n,
  },
  limits: { maxOutputTokens: 64_000, contextLength: 200_000 },
  hiddenReasoning: true,
  minOutputTokens: 4_096,
  enabled: true,
};

/** A model behind the protocol of Gemini. */
const GEMINI_LIKE: ModelRow<'chat'> = {
  id: 'gen-gemini-like',
  operation: 'chat',
  routes: [{ provider: 'gemini', upstreamModel: 'gemini-3-sandbox' }],
  price: {
    unit: 'token',
    inputMicroUsdPerMillion: 1_000_000n,
    cachedInputMicroUsdPerMillion: 100_000n,
    outputMicroUsdPerMillion: 6_000_000n,
  },
  limits: { maxOutputTokens: 64_000, contextLength: 1_000_000 },
  hiddenReasoning: true,
  minOutputTokens: 4_096,
  enabled: true,
};

/** A model that is asked over OpenAI's Responses: its reasoning comes and goes encrypted. */
const RESPONSES_LIKE: ModelRow<'chat'> = {
  id: 'gen-responses-like',
  operation: 'chat',
  routes: [{ provider: 'openai', upstreamModel: 'responses-like', upstreamProtocol: 'responses' }],
  price: {
    unit: 'token',
    inputMicroUsdPerMillion: 2_000_000n,
    cachedInputMicroUsdPerMillion: 200_000n,
    outputMicroUsdPerMillion: 8_000_000n,
  },
  limits: { maxOutputTokens: 64_000, contextLength: 200_000 },
  hiddenReasoning: true,
  minOutputTokens: 4_096,
  enabled: true,
};

/** Texts that share words have near vectors. */
const EMBEDDING: ModelRow<'embeddings'> = {
  id: 'gen-embed-demo',
  operation: 'embeddings',
  routes: [{ provider: 'openai', upstreamModel: 'embed-demo' }],
  price: { unit: 'token', inputMicroUsdPerMillion: 20_000n, outputMicroUsdPerMillion: 0n },
  limits: { dimensions: [1, 1_536], maxInputTokens: 8_192, maxInputs: 2_048 },
  enabled: true,
};

const QUALITIES = { low: 10_000n, medium: 40_000n, high: 160_000n } as const;
const SIZES = ['1024x1024', '1536x1024', '1024x1536'];

/** A model that edits images, and whose callers choose what there is to choose. */
const IMAGE_EDITOR: ModelRow<'image'> = {
  id: 'gen-image-edit-demo',
  operation: 'image',
  routes: [{ provider: 'openai', upstreamModel: 'image-edit-demo' }],
  price: {
    unit: 'request',
    microUsd: QUALITIES.high,
    byQualitySize: Object.entries(QUALITIES).flatMap(([quality, microUsd]) =>
      SIZES.map((size) => ({ quality, size, microUsd })),
    ),
  },
  limits: {
    sizes: SIZES,
    qualities: Object.keys(QUALITIES),
    backgrounds: ['transparent', 'opaque'],
    outputFormats: ['png', 'jpeg', 'webp'],
    maxN: 4,
    maxEditImages: 16,
  },
  enabled: true,
};

/**
 * Models of the sandbox alone, so that every face and every protocol can be tried without a key. Their prices are made
 * up: nobody sells them.
 */
export const SANDBOX_MODELS: readonly ModelRow[] = [
  THINKING,
  CLAUDE_LIKE,
  GEMINI_LIKE,
  RESPONSES_LIKE,
  EMBEDDING,
  IMAGE_EDITOR,
];

/**
 * The catalog with the models of the sandbox whose providers it replaces. What the overlay names comes first.
 * @param sandboxed the ids of the providers that the sandbox replaces
 */
export function withSandboxModels(
  catalog: LoadedCatalog,
  sandboxed: readonly string[],
): LoadedCatalog {
  const taken = new Set(catalog.rows.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  const added = SANDBOX_MODELS.filter(
    ({ id, routes }) =>
      !taken.has(id) && routes.every(({ provider }) => sandboxed.includes(provider)),
  );
  return added.length === 0 ? catalog : { ...catalog, rows: [...catalog.rows, ...added] };
}
