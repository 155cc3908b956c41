import type { ModelRow } from '../model-row.js';
import type { SongShape } from '../song-shape.js';

const tune = (
  id: string,
  upstreamModel: string,
  shape: SongShape,
  microUsd: bigint,
): ModelRow<'song'> => ({
  id,
  operation: 'song',
  routes: [{ provider: 'ttapi', upstreamModel: `flowmusic/${upstreamModel}` }],
  price: { unit: 'request', microUsd },
  limits: { shape },
  enabled: true,
});

/** Flow-style models, one clip per task (API: POST /v1/music/generations). */
export const TUNE_MODELS = [
  tune('tune-music', 'generations', 'tune-music', 90_000n),
  tune('tune-music-lyrics', 'lyrics', 'tune-lyrics', 30_000n),
  tune('tune-music-extend', 'extend', 'tune-extend', 90_000n),
  tune('tune-music-replace', 'replace', 'tune-replace', 90_000n),
  tune('tune-music-cover', 'cover', 'tune-cover', 90_000n),
  tune('tune-music-stems', 'stems', 'source-track', 90_000n),
  tune('tune-music-upload', 'upload', 'upload', 15_000n),
  tune('tune-music-download', 'download', 'tune-download', 30_000n),
  tune('tune-music-video', 'video', 'tune-video', 30_000n),
] as const satisfies readonly ModelRow<'song'>[];
