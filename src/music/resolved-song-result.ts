import { isJsonObject, type JsonObject } from '../common/json-object.js';
import type {
  BpmView,
  CustomModelView,
  LyricsView,
  MidiView,
  PersonaView,
  SongFileView,
  TimedLyricView,
} from './song-parts.view.js';
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

/** An object that has the `required` fields and may have the others of the shape. */
const record =
  <T>(shape: Shape<T>, required = Object.keys(shape)): Check =>
  (value) =>
    isJsonObject(value) && required.every((key) => key in value) && fits(value, shape);

const isNote = record({ pitch: isAmount, start: isAmount, end: isAmount, velocity: isAmount });

const SONG: Shape<SongResultView> = {
  urls: listOf(isText),
  tracks: listOf(record(TRACK, ['index'])),
  lyrics: listOf(record<LyricsView>({ text: isText, title: isText, tags: isText }, ['text'])),
  files: listOf(record<SongFileView>({ format: isText, url: isText })),
  videos: listOf(isText),
  text: isText,
  persona: record<PersonaView>({ id: isText }),
  custom_model: record<CustomModelView>({ id: isText, name: isText }),
  bpm: record<BpmView>({ average: isAmount, min: isAmount, max: isAmount }, ['average']),
  timed_lyrics: listOf(
    record<TimedLyricView>({
      text: isText,
      start_s: isAmount,
      end_s: isAmount,
      success: (value) => typeof value === 'boolean',
    }),
  ),
  midi: record<MidiView>({
    state: isText,
    instruments: listOf(record({ name: isText, notes: listOf(isNote) })),
  }),
  voice: (value) =>
    isJsonObject(value) &&
    Object.values(value).every((fact) => /^(string|number|boolean)$/.test(typeof fact)),
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
