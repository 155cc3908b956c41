/**
 * The kinds of bodies of POST /v1/music/generations. A row of the catalog names one; it decides the fields of the
 * model.
 */
export const SONG_SHAPES = [
  'music',
  'lyrics',
  'inspo',
  'sounds',
  'style-boost',
  'upload',
  'upload-cover',
  'upload-extend',
  'custom-model',
  'extend',
  'cover',
  'remaster',
  'replace-section',
  'time-range',
  'fade',
  'speed',
  'concat',
  'mashup',
  'sample',
  'stems',
  'source-track',
  'add-vocals',
  'add-instrumental',
  'add-stem',
  'voice',
  'persona',
  'download',
  'tune-music',
  'tune-lyrics',
  'tune-extend',
  'tune-replace',
  'tune-cover',
  'tune-download',
  'tune-video',
] as const;

/** One of {@link SONG_SHAPES}. */
export type SongShape = (typeof SONG_SHAPES)[number];
