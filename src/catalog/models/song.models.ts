import type { ModelRow } from '../model-row.js';
import type { SongShape } from '../song-shape.js';

const MAX_MODE_FACTOR = 2n;

const song = (
  id: string,
  upstreamModel: string,
  shape: SongShape,
  microUsd: bigint,
): ModelRow<'song'> => ({
  id,
  operation: 'song',
  routes: [{ provider: 'ttapi', upstreamModel: `suno/${upstreamModel}` }],
  price: { unit: 'request', microUsd },
  limits: { shape },
  enabled: true,
});
/** A model with a Max mode, which costs exactly twice the price. */
const maxSong = (
  id: string,
  upstreamModel: string,
  shape: SongShape,
  microUsd: bigint,
): ModelRow<'song'> => ({
  ...song(id, upstreamModel, shape, microUsd),
  price: { unit: 'request', microUsd, maxModeMicroUsd: microUsd * MAX_MODE_FACTOR },
});

/** Song models in the order of docs/guides/songs.md (API: POST /v1/music/generations). */
export const SONG_MODELS = [
  maxSong('song-music', 'music', 'music', 75_000n),
  song('song-lyrics', 'lyrics', 'lyrics', 12_000n),
  maxSong('song-inspo', 'inspo', 'inspo', 102_000n),
  song('song-sounds', 'sounds', 'sounds', 14_400n),
  song('song-style-boost', 'upsample-tags', 'style-boost', 6_000n),
  song('song-upload', 'upload', 'upload', 6_000n),
  maxSong('song-upload-cover', 'upload-cover', 'upload-cover', 75_000n),
  maxSong('song-upload-extend', 'upload-extend', 'upload-extend', 75_000n),
  song('song-custom-model', 'custom-model', 'custom-model', 1_440_000n),
  maxSong('song-extend', 'extend', 'extend', 75_000n),
  maxSong('song-cover', 'cover', 'cover', 75_000n),
  song('song-remaster', 'remaster', 'remaster', 75_000n),
  maxSong('song-replace-section', 'replace-section', 'replace-section', 75_000n),
  song('song-remove-section', 'remove-section', 'time-range', 12_000n),
  song('song-crop', 'crop', 'time-range', 12_000n),
  song('song-fade-in', 'fade-in', 'fade', 12_000n),
  song('song-fade-out', 'fade-out', 'fade', 12_000n),
  song('song-speed', 'adjust-speed', 'speed', 36_000n),
  song('song-concat', 'concat', 'concat', 6_000n),
  maxSong('song-mashup', 'mashup', 'mashup', 75_000n),
  maxSong('song-sample', 'sample', 'sample', 75_000n),
  song('song-stems', 'stems', 'stems', 150_000n),
  song('song-stems-all', 'stems-all', 'source-track', 360_000n),
  maxSong('song-add-vocals', 'add-vocals', 'add-vocals', 75_000n),
  maxSong('song-add-instrumental', 'add-instrumental', 'add-instrumental', 75_000n),
  maxSong('song-add-stem', 'add-stem', 'add-stem', 75_000n),
  song('song-voice', 'create-voice', 'voice', 24_000n),
  song('song-persona', 'persona', 'persona', 6_000n),
  song('song-midi', 'gen-midi', 'source-track', 75_000n),
  song('song-timed-lyrics', 'aligned-lyrics', 'source-track', 1_200n),
  song('song-bpm', 'bpm', 'source-track', 1_200n),
  song('song-mp4', 'mp4', 'source-track', 6_000n),
  song('song-download', 'download', 'download', 2_400n),
] as const satisfies readonly ModelRow<'song'>[];
