import { isJsonObject, type JsonObject } from '../common/json-object.js';
import type { SongResultView, TrackView } from './song-result.view.js';

type Check = (value: unknown) => boolean;
type Shape<T> = Readonly<Record<keyof T, Check>>;

const isText: Check = (value) => typeof value === 'string';
const isAmount: Check = (value) => typeof value === 'number' && value >= 0;
const listOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem);

const TRACK: Shape<TrackView> = {
  index: (value) => Number.isInteger(value) && Number(value) > 0,
  id: isText,
  audio_url: isText,
  wav_url: isText,
  image_url: isText,
  video_url: isText,
  file_url: isText,
  duration_seconds: isAmount,
  title: isText,
  lyrics: isText,
  tags: isText,
  status: isText,
  format: isText,
  mime_type: isText,
  size_bytes: isAmount,
};

const isTrack: Check = (value) => isJsonObject(value) && 'index' in value && fits(value, TRACK);

const SONG: Shape<SongResultView> = {
  urls: listOf(isText),
  tracks: listOf(isTrack),
  lyrics: listOf(isJsonObject),
  files: listOf(isJsonObject),
  videos: listOf(isText),
  text: isText,
  persona: isJsonObject,
  custom_model: isJsonObject,
  bpm: isJsonObject,
  timed_lyrics: listOf(isJsonObject),
  midi: isJsonObject,
  voice: isJsonObject,
};

/**
 * The song's result that an operator has given, always with `urls`. Undefined if it does not have the format of a
 * song's result.
 */
export function resolvedSongResult(given: JsonObject): JsonObject | undefined {
  const result = { urls: [], ...given };
  return fits(result, SONG) ? result : undefined;
}

function fits(object: JsonObject, shape: Readonly<Record<string, Check>>): boolean {
  return Object.entries(object).every(
    ([key, value]) => Object.hasOwn(shape, key) && shape[key]?.(value) === true,
  );
}
