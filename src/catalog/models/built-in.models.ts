import type { ModelRow } from '../model-row.js';
import { AUDIO_MODELS } from './audio.models.js';
import { CHAT_MODELS } from './chat.models.js';
import { SONG_MODELS } from './song.models.js';
import { TUNE_MODELS } from './tune.models.js';

const aspectVideo = (id: string): ModelRow<'video'> => ({
  id,
  operation: 'video',
  routes: [{ provider: 'video', upstreamModel: id }],
  price: { unit: 'video', microUsdBySeconds: { '5': 250_000n, '10': 500_000n, '15': 750_000n } },
  limits: { aspectRatios: ['16:9', '9:16', '1:1'], maxImageUrls: 4 },
  enabled: true,
});

/** Video models (API: POST /v1/videos; decisions G-26, G-62). */
export const VIDEO_MODELS = [
  {
    id: 'vid-omni',
    operation: 'video',
    routes: [{ provider: 'video', upstreamModel: 'vid-omni' }],
    price: { unit: 'video', microUsdBySeconds: { '10': 500_000n } },
    limits: { sizePattern: '^[1-9]\\d{1,4}x[1-9]\\d{1,4}$', maxImageUrls: 1 },
    enabled: true,
  },
  aspectVideo('vid-motion'),
  aspectVideo('vid-cine'),
] as const satisfies readonly ModelRow<'video'>[];

/** The provider's price depends on the quality, so the sold one is always requested. */
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
const IMAGE_MODELS = [
  image('gen-image-2', 'gpt-image-2', 10_000n),
  image('gen-image-2-all', 'gpt-image-2-all', 20_000n),
] as const satisfies readonly ModelRow<'image'>[];

/** Every model that is built in, in the order of lists. */
export const BUILT_IN_MODELS: readonly ModelRow[] = [
  ...CHAT_MODELS,
  ...IMAGE_MODELS,
  ...VIDEO_MODELS,
  ...AUDIO_MODELS,
  ...SONG_MODELS,
  ...TUNE_MODELS,
];
