import type { ModelRow } from '../model-row.js';

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
