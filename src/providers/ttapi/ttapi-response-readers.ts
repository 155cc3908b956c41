import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { listAt } from '../http/json-fields.js';
import type { SongResult, SongTrack } from '../ports/song.port.js';
import { type ReadResult, isEmptied, generatedOf, saysFailed } from './generated-items.js';
import { idOf, numberOf, textOf, urlOf } from './ttapi-values.js';

/** At most this many tracks, texts, videos, words, instruments, notes of each, or facts are read from one response. */
const MAX_ITEMS = 20_000;
/** The state of tracks for which the provider reports none: it lists only finished tracks. */
const FINISHED = 'complete';

type Reader = (data: JsonObject, fields: JsonObject) => ReadResult<SongResult>;

/**
 * Reads `data` of a response as the operation promises it; undefined if a promised value is missing, because an empty
 * success is no success, and `not_generated` if the response says so. Names in camel case are documented for the first
 * family, names in snake case for the second. If the documentation shows neither, both are accepted.
 */
export const RESPONSE_READERS = {
  tracks: (data) =>
    withTracks(
      generatedOf(musicsOf(data), ['audioUrl', 'audio_url'], (music) => {
        const track = trackOf(music);
        return track.audioUrl === undefined ? undefined : track;
      }),
    ),
  upload: (data, { title }) => {
    // The response to a plain upload contains only the id. After an upload that waited for its result, it may list the
    // track.
    const [music] = musicsOf(data);
    if (music && saysFailed(music)) return 'not_generated';
    const track: SongTrack = music ? trackOf(music) : { id: idOf(data, 'music_id', 'musicId') };
    const label = typeof title === 'string' ? title : track.title;
    return track.id === undefined ? undefined : { tracks: [{ ...track, title: label }] };
  },
  clip: (data) => {
    const clips = generatedOf(
      listAt(data, 'clips') ?? [],
      ['audio_url', 'audioUrl', 'url'],
      clipOf,
    );
    return withTracks(Array.isArray(clips) ? clips.slice(0, 1) : clips);
  },
  archive: (data) => {
    const fileUrl = urlOf(data, 'file_url', 'fileUrl', 'zip_url');
    if (fileUrl === undefined) return missing(data, 'file_url', 'fileUrl', 'zip_url');
    const sizeBytes = numberOf(data, 'size_bytes');
    return { tracks: [{ fileUrl, format: 'zip', mimeType: 'application/zip', sizeBytes }] };
  },
  clipFile: (data, fields) => {
    const files = filesOf(data, [fields.format]);
    if (!Array.isArray(files)) return files;
    const [file] = files;
    if (!file) return undefined;
    const isWav = file.format === 'wav';
    const track = {
      ...(isWav ? { wavUrl: file.url } : { audioUrl: file.url }),
      format: file.format,
      mimeType: isWav ? 'audio/wav' : 'audio/mpeg',
      sizeBytes: numberOf(data, 'size_bytes'),
    };
    return { tracks: [track], files };
  },
  files: (data, { formats }) => {
    const files = filesOf(data, Array.isArray(formats) ? formats : []);
    return Array.isArray(files) ? { files } : files;
  },
  videos: (data) => {
    const videos = videosOf(data);
    if (!Array.isArray(videos)) return videos;
    return { tracks: [{ videoUrl: videos[0], mimeType: 'video/mp4' }], videos };
  },
  lyrics: (data) => {
    const list = typeof data.lyrics === 'string' ? [{ ...data, text: data.lyrics }] : data.lyrics;
    const entries = (Array.isArray(list) ? list : []).slice(0, MAX_ITEMS).filter(isJsonObject);
    const lyrics = generatedOf(entries, ['text'], (entry) => {
      const text = textOf(entry, 'text');
      return text === undefined
        ? undefined
        : { text, title: textOf(entry, 'title'), tags: textOf(entry, 'tags') };
    });
    return Array.isArray(lyrics) ? { lyrics } : lyrics;
  },
  style: (data) => {
    const text = textOf(data, 'upsampled_tags', 'upsampledTags', 'tags');
    return text === undefined ? missing(data, 'upsampled_tags', 'upsampledTags', 'tags') : { text };
  },
  customModel: (data) => {
    const model = isJsonObject(data.custom_model) ? data.custom_model : data;
    if (saysFailed(model)) return 'not_generated';
    const id = idOf(model, 'id', 'model_id');
    const name = textOf(model, 'name');
    return id === undefined || name === undefined ? undefined : { customModel: { id, name } };
  },
  persona: (data) => {
    const persona = isJsonObject(data.persona) ? data.persona : {};
    if (saysFailed(persona)) return 'not_generated';
    const id = idOf(data, 'persona_id', 'personaId') ?? idOf(persona, 'id');
    return id === undefined ? undefined : { persona: { id } };
  },
  voice: (data) => {
    if (!isJsonObject(data.voice)) return undefined;
    if (saysFailed(data.voice)) return 'not_generated';
    const voice = Object.entries(data.voice).filter((entry): entry is [string, string] =>
      ['string', 'number', 'boolean'].includes(typeof entry[1]),
    );
    if (voice.length === 0) return undefined;
    return { voice: Object.fromEntries(voice.slice(0, MAX_ITEMS)) };
  },
  bpm: (data) => {
    const bpm = isJsonObject(data.bpm) ? data.bpm : { average: data.bpm };
    const average = numberOf(bpm, 'average', 'avg');
    if (average === undefined) return undefined;
    return { bpm: { average, min: numberOf(bpm, 'min'), max: numberOf(bpm, 'max') } };
  },
  timedLyrics: (data) => {
    const words = listAt(data, 'alignment') ?? listAt(data, 'aligned_words');
    if (!words) return undefined;
    const timedLyrics = words.slice(0, MAX_ITEMS).flatMap((word) => {
      const text = textOf(word, 'word', 'text');
      const startSeconds = numberOf(word, 'start_s');
      const endSeconds = numberOf(word, 'end_s');
      return text === undefined || startSeconds === undefined || endSeconds === undefined
        ? []
        : [{ text, startSeconds, endSeconds, isAligned: word.success !== false }];
    });
    // A track without singing has no words. That is different from words that cannot be read.
    return timedLyrics.length === Math.min(words.length, MAX_ITEMS) ? { timedLyrics } : undefined;
  },
  midi: (data) => {
    const midi = isJsonObject(data.midi) ? data.midi : data;
    if (saysFailed(midi)) return 'not_generated';
    const parts = listAt(midi, 'instruments')?.slice(0, MAX_ITEMS);
    const instruments = parts?.map((part) => ({
      name: textOf(part, 'name') ?? '',
      notes: (listAt(part, 'notes') ?? []).slice(0, MAX_ITEMS).map((note) => ({
        pitch: numberOf(note, 'pitch') ?? 0,
        start: numberOf(note, 'start') ?? 0,
        end: numberOf(note, 'end') ?? 0,
        velocity: numberOf(note, 'velocity') ?? 0,
      })),
    }));
    if (!instruments?.length) return undefined;
    return { midi: { state: textOf(midi, 'state') ?? FINISHED, instruments } };
  },
} satisfies Record<string, Reader>;

/** Names of the response readers, one per operation. */
export type ResponseReader = keyof typeof RESPONSE_READERS;

/** Reads the response of an operation; a response that says that it failed as a whole is `not_generated`. */
export function readResponse(
  reader: ResponseReader,
  data: JsonObject,
  fields: JsonObject,
): ReadResult<SongResult> {
  return saysFailed(data) ? 'not_generated' : RESPONSE_READERS[reader](data, fields);
}

function withTracks(tracks: ReadResult<SongTrack[]>): ReadResult<SongResult> {
  return Array.isArray(tracks) ? { tracks } : tracks;
}

function missing(data: JsonObject, ...names: readonly string[]): 'not_generated' | undefined {
  return isEmptied(data, ...names) ? 'not_generated' : undefined;
}

function musicsOf(data: JsonObject): JsonObject[] {
  return (listAt(data, 'musics') ?? []).slice(0, MAX_ITEMS);
}

/** A track of the first family. `videoUrl` is left out, because every track has one, rendered or not. */
function trackOf(music: JsonObject): SongTrack {
  return {
    id: idOf(music, 'musicId', 'music_id'),
    audioUrl: urlOf(music, 'audioUrl', 'audio_url'),
    wavUrl: urlOf(music, 'wavUrl', 'wav_url'),
    imageUrl: urlOf(music, 'imageLargeUrl', 'imageUrl', 'image_url'),
    durationSeconds: numberOf(music, 'duration'),
    title: textOf(music, 'title'),
    lyrics: textOf(music, 'prompt'),
    tags: textOf(music, 'tags'),
    status: textOf(music, 'status') ?? FINISHED,
  };
}

/**
 * A clip of the second family. The documentation shows the id, the title and the lyrics; the other names are assumed.
 */
function clipOf(clip: JsonObject): SongTrack | undefined {
  const id = idOf(clip, 'clip_id', 'clipId');
  const audioUrl = urlOf(clip, 'audio_url', 'audioUrl', 'url');
  if (id === undefined || audioUrl === undefined) return undefined;
  return {
    id,
    audioUrl,
    wavUrl: urlOf(clip, 'wav_url'),
    imageUrl: urlOf(clip, 'image_url', 'imageUrl'),
    durationSeconds: numberOf(clip, 'duration', 'duration_s', 'length'),
    title: textOf(clip, 'title'),
    lyrics: textOf(clip, 'lyrics') ?? timedText(clip),
    tags: textOf(clip, 'tags', 'sound_prompt'),
    status: textOf(clip, 'status') ?? FINISHED,
  };
}

function timedText(clip: JsonObject): string | undefined {
  const markers = clip.lyrics_timing_markers;
  if (typeof markers === 'string') return markers === '' ? undefined : markers;
  const lines = (listAt(clip, 'lyrics_timing_markers') ?? []).flatMap((marker) => {
    const text = textOf(marker, 'text', 'line', 'word');
    return text === undefined ? [] : [text];
  });
  return lines.length === 0 ? undefined : lines.join('\n');
}

/** One file per format, in the requested order; undefined where one is missing, `not_generated` where it says so. */
function filesOf(data: JsonObject, formats: readonly unknown[]) {
  const files = listAt(data, 'files') ?? [];
  const wanted = formats.map((format) => files.find((file) => file.format === format));
  if (wanted.some((file) => file && (saysFailed(file) || isEmptied(file, 'url', 'file_url')))) {
    return 'not_generated';
  }
  const found = formats.flatMap((format, at) => {
    const file = wanted[at];
    const url = file && urlOf(file, 'url', 'file_url');
    return typeof format === 'string' && url !== undefined ? [{ format, url }] : [];
  });
  return found.length === formats.length && found.length > 0 ? found : undefined;
}

function videosOf(data: JsonObject): ReadResult<string[]> {
  const list = Array.isArray(data.videos) ? (data.videos as readonly unknown[]) : [data];
  const items = list
    .slice(0, MAX_ITEMS)
    .map((video) => (isJsonObject(video) ? video : { url: video }));
  const names = ['url', 'videoUrl', 'video_url'];
  return generatedOf(items, names, (video) => urlOf(video, ...names));
}
