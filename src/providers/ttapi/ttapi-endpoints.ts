import type { JsonObject } from '../../common/json-object.js';
import type { ResponseReader } from './ttapi-response-readers.js';

/** A request that has to be sent before another. Its response is paid for and is stored. */
export interface TtapiStep {
  readonly path: string;
  /** The fields that it sends, under their public names. */
  readonly takes: readonly string[];
  /** The step is skipped where the caller did not send this field. */
  readonly onlyWith?: string;
  readonly constants?: JsonObject;
  /** The field of its response that the next request sends under the same name. */
  readonly keeps: string;
}

/** How an operation is sent. Fields that are not named here keep their public names. */
export interface TtapiEndpoint {
  /** In whose format the fields are sent. */
  readonly family: 'suno' | 'flowmusic';
  readonly path: string;
  /** The path that is polled, with `?jobId=`. */
  readonly fetchPath: string;
  /** The field for the id of the source track, or for the ids of two. */
  readonly track: string;
  readonly reader: ResponseReader;
  /** Upstream names of fields, where they differ. */
  readonly names?: Readonly<Record<string, string>>;
  /** Upstream values of fields, where they differ. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly constants?: JsonObject;
  /** Fields that the upstream does not have. */
  readonly omits?: readonly string[];
  /** The field for the version of the model, or for the caller's own model. */
  readonly version?: string;
  /** The upstream requires a title, even if the caller sent none. */
  readonly needsTitle?: boolean;
  /** The response is the result itself, so the request takes long. */
  readonly isLong?: boolean;
  readonly steps?: readonly TtapiStep[];
}

/** By name in the routes of the catalog. */
export type TtapiEndpoints = Readonly<Record<string, TtapiEndpoint>>;

const VALUES = {
  version: { v6: 'chirp-hawk', 'v6-wild': 'chirp-hawk-wild', 'v6-mini': 'chirp-goose' },
  variety: { off: 0, low: 1, medium: 2, high: 3, max: 4 },
  vocal_gender: { male: 'Male', female: 'Female' },
};

const suno = (
  path: string,
  reader: ResponseReader,
  rest: Partial<TtapiEndpoint> = {},
): TtapiEndpoint => ({
  family: 'suno',
  path: `/suno/v1/${path}`,
  fetchPath: '/suno/v2/fetch',
  track: 'music_id',
  reader,
  values: VALUES,
  ...rest,
});

/**
 * An operation that generates new tracks with a version of the model. The provider keeps the files for us
 * (`isStorage`).
 */
const creation = (path: string, rest: Partial<TtapiEndpoint> = {}): TtapiEndpoint =>
  suno(path, 'tracks', {
    version: 'mv',
    ...rest,
    constants: { isStorage: true, ...rest.constants },
    names: { gen_description: 'gpt_description_prompt', ...rest.names },
  });

const flow = (
  path: string,
  reader: ResponseReader,
  rest: Partial<TtapiEndpoint> = {},
): TtapiEndpoint => ({
  family: 'flowmusic',
  path: `/flowmusic/v1/${path}`,
  fetchPath: '/flowmusic/v1/fetch',
  track: 'clip_id',
  reader,
  ...rest,
});

const CROPPED = { start_s: 'crop_start_s', end_s: 'crop_end_s' };
const SECTION = { start_s: 'infill_start_s', end_s: 'infill_end_s' };
const WAITS = { is_async: false };

/** Uploads a public recording before the operation can use it. */
const UPLOAD: TtapiStep = {
  path: '/suno/v1/upload',
  takes: ['audio_url'],
  constants: WAITS,
  keeps: 'music_id',
};
/** Finds the singing in a track. The path is assumed: the documentation names the operation, but not its path. */
const VOX: TtapiStep = {
  path: '/suno/v1/vox',
  takes: ['vocal_start_s', 'vocal_end_s'],
  onlyWith: 'vocal_start_s',
  keeps: 'vox_audio_id',
};

/**
 * Every operation of both families. Documented are the `suno` endpoints down to `timed lyrics`, and the four
 * `flowmusic` endpoints that take an instruction or a style. The rest is assumed, because no public page shows it: of
 * `suno`, `upsample-tags`, `bpm`, `custom-model`, `add-stem`, `mp4`, `download`, `adjust-speed`, `fade-out`, the names
 * of `music_ids` and of the range of `sample`; of `flowmusic`, `lyrics`, `upload`, `download`, `video`. `mv`,
 * `max_mode`, `variety` and `duration` are sent to every operation that makes new tracks.
 */
export const TTAPI_ENDPOINTS: TtapiEndpoints = {
  'suno/music': creation('music', { names: { style: 'tags' } }),
  'suno/lyrics': suno('lyrics', 'lyrics'),
  'suno/inspo': creation('inspo'),
  'suno/sounds': creation('sounds', { names: { prompt: 'sound' } }),
  'suno/upsample-tags': suno('upsample-tags', 'style'),
  'suno/upload': suno('upload', 'upload', { constants: WAITS, omits: ['title'], isLong: true }),
  'suno/upload-cover': creation('cover', { steps: [UPLOAD] }),
  'suno/upload-extend': creation('extend', { steps: [UPLOAD] }),
  'suno/custom-model': suno('custom-model', 'customModel'),
  'suno/extend': creation('extend'),
  'suno/cover': creation('cover'),
  'suno/remaster': creation('remaster'),
  'suno/replace-section': creation('replace-section', { names: SECTION }),
  'suno/remove-section': suno('remove-section', 'tracks', { names: CROPPED }),
  'suno/crop': suno('crop', 'tracks', { names: CROPPED }),
  'suno/fade-in': suno('fade-in', 'tracks', { needsTitle: true }),
  'suno/fade-out': suno('fade-out', 'tracks', { needsTitle: true }),
  'suno/adjust-speed': suno('adjust-speed', 'tracks', { needsTitle: true }),
  'suno/concat': suno('concat', 'tracks'),
  'suno/mashup': creation('mashup', { track: 'music_ids' }),
  'suno/sample': creation('sample'),
  'suno/stems': suno('stems', 'tracks'),
  'suno/stems-all': suno('stems-all', 'tracks'),
  'suno/add-vocals': creation('add-vocals'),
  'suno/add-instrumental': creation('add-instrumental'),
  'suno/add-stem': creation('add-stem'),
  'suno/create-voice': suno('create-voice', 'voice'),
  'suno/persona': suno('persona', 'persona', {
    names: { description: 'describe', style: 'styles' },
    steps: [VOX],
    isLong: true,
  }),
  'suno/gen-midi': suno('gen-midi', 'midi', { isLong: true }),
  'suno/aligned-lyrics': suno('alignedLyrics', 'timedLyrics', { isLong: true }),
  'suno/bpm': suno('bpm', 'bpm'),
  'suno/mp4': suno('mp4', 'videos'),
  'suno/download': suno('download', 'files'),
  'flowmusic/generations': flow('generations', 'clip', {
    names: { prompt: 'sound_prompt', duration: 'length' },
    constants: { model: 'Lyria 3 Pro' },
  }),
  'flowmusic/lyrics': flow('lyrics', 'lyrics'),
  'flowmusic/extend': flow('extend', 'clip', {
    names: { continue_at: 'extend_from_s', duration: 'extend_s' },
  }),
  'flowmusic/replace': flow('replace', 'clip'),
  'flowmusic/cover': flow('cover', 'clip'),
  'flowmusic/stems': flow('stems', 'archive'),
  'flowmusic/upload': flow('upload', 'clip'),
  'flowmusic/download': flow('download', 'clipFile'),
  'flowmusic/video': flow('video', 'videos', { names: { template: 'preset' } }),
};
