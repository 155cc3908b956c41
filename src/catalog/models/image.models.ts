import type { ModelRow } from '../model-row.js';

/** The provider's price goes by the quality, so the one that is sold is always asked for. */
const image = (id: string, upstreamModel: string, microUsd: bigint): ModelRow<'image'> => ({
  id,
  operation: 'image',
  routes: [{ provider: 'openai', upstreamModel }],
  price: { unit: 'request', microUsd },
  limits: { sizes: ['1024x1024', '1536x1024', '1024x1536'] },
  terms: { constants: { quality: 'low' } },
  enabled: true,
});

/** Image models (API: POST /v1/images/generations). */
export const IMAGE_MODELS = [
  image('gen-image-2', 'gpt-image-2', 10_000n),
  image('gen-image-2-all', 'gpt-image-2-all', 20_000n),
] as const satisfies readonly ModelRow<'image'>[];
