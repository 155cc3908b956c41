import type { ModelRow } from '../model-row.js';

const tune = (id: string, upstreamModel: string, microUsd: bigint): ModelRow<'song'> => ({
  id,
  operation: 'song',
  routes: [{ provider: 'ttapi', upstreamModel: `flowmusic/${upstreamModel}` }],
  price: { unit: 'request', microUsd },
  limits: {},
  enabled: true,
});

/** Flow-style models, one clip per task (spec: POST /v1/music/generations, Flow-style models). */
export const TUNE_MODELS = [
  tune('tune-music', 'generations', 90_000n),
  tune('tune-music-lyrics', 'lyrics', 30_000n),
  tune('tune-music-extend', 'extend', 90_000n),
  tune('tune-music-replace', 'replace', 90_000n),
  tune('tune-music-cover', 'cover', 90_000n),
  tune('tune-music-stems', 'stems', 90_000n),
  tune('tune-music-upload', 'upload', 15_000n),
  tune('tune-music-download', 'download', 30_000n),
  tune('tune-music-video', 'video', 30_000n),
] as const satisfies readonly ModelRow<'song'>[];
