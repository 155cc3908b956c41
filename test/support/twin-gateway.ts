import { overlay } from './overlay-file.js';
import { startTestGateway, type TestGateway } from './gateway.js';
import { BRISK } from './video-harness.js';

/** The price of two seconds of every model of a vendor's twin, micro-USD. */
export const TWIN_PRICE = 320_000n;
/** A name of a model at each vendor of a shipped file; that of fal is of a variant. */
const MODELS: Readonly<Record<string, string>> = {
  'byteplus-video': 'seedance-2',
  fal: 'fal-ai/veo3.1',
  kling: 'kling-v3',
  luma: 'ray-2',
  'minimax-video': 'MiniMax-H3',
  replicate: 'acme/films',
  runway: 'gen4.5',
  'xai-video': 'grok-imagine-video',
};
/** The ids of the shipped files. */
export const SHIPPED_IDS = Object.keys(MODELS);

/** The row of a model `vid-<provider>`, which is sold. */
export const twinRow = (provider: string, model = 'm', limits: object = {}) => ({
  id: `vid-${provider}`,
  operation: 'video',
  routes: [{ provider, upstream_model: model }],
  limits: { max_image_urls: 0, ...limits },
  price: {
    unit: 'video',
    by_seconds: [
      { seconds: '2', micro_usd: Number(TWIN_PRICE) },
      { seconds: '3', micro_usd: 450_000 },
    ],
  },
});

/** A gateway with no key of a vendor, which sells a model `vid-<id>` of each shipped file. */
export function startTwinGateway(settings: NodeJS.ProcessEnv = {}): Promise<TestGateway> {
  const models = Object.entries(MODELS).map(([id, model]) =>
    twinRow(id, model, id === 'kling' ? { frames: ['first'] } : {}),
  );
  return startTestGateway({ ...BRISK, CATALOG_FILE: overlay({ models }), ...settings });
}
