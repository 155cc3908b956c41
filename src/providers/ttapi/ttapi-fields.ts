import { isJsonObject, type JsonObject } from '../../common/json-object.js';

/** Public names of the fields that a song command can have. `gen_description` also stands for a prompt that describes. */
export const SONG_FIELDS: ReadonlySet<string> = new Set([
  ...['audio_url', 'audio_urls', 'audio_weight', 'auto_lyrics', 'bpm', 'continue_at', 'custom'],
  ...['description', 'duration', 'end_s', 'fade_time_s', 'format', 'formats', 'gen_description'],
  ...['infill_lyrics', 'instruction', 'instrumental', 'keep_pitch', 'key', 'lyrics'],
  ...['lyrics_model', 'max_mode', 'name', 'negative_tags', 'prompt', 'seed', 'speed_multiplier'],
  ...['start_s', 'stem_type', 'strength', 'style', 'style_profile', 'style_weight', 'tags'],
  ...['template', 'title', 'type', 'variation_category', 'variety', 'version', 'vocal_end_s'],
  ...['vocal_gender', 'vocal_start_s', 'weirdness_constraint'],
]);

/** Names under which the fields of answers are read. Where the readers take several, this is the first. */
export const ANSWER_FIELDS: ReadonlySet<string> = new Set([
  ...['status', 'data', 'job_id', 'progress', 'musics', 'clips', 'music_id', 'musicId', 'clip_id'],
  ...['audioUrl', 'audio_url', 'wavUrl', 'wav_url', 'imageUrl', 'image_url', 'duration', 'title'],
  ...['prompt', 'lyrics', 'lyrics_timing_markers', 'tags', 'text', 'file_url', 'size_bytes'],
  ...['files', 'format', 'url', 'videos', 'videoUrl', 'upsampled_tags', 'custom_model', 'id'],
  ...['name', 'persona', 'persona_id', 'vox_audio_id', 'voice', 'bpm', 'average', 'min', 'max'],
  ...['alignment', 'word', 'start_s', 'end_s', 'success', 'midi', 'state', 'instruments'],
  ...['notes', 'pitch', 'start', 'end', 'velocity'],
]);

/** An answer with the names that the readers know, given the upstream's names by ours. */
export function withKnownNames(
  answer: JsonObject,
  upstreamNames: Readonly<Record<string, string>> = {},
): JsonObject {
  const ours = new Map(Object.entries(upstreamNames).map(([known, upstream]) => [upstream, known]));
  return ours.size === 0 ? answer : (renamed(answer, ours) as JsonObject);
}

function renamed(value: unknown, ours: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => renamed(item, ours));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [
    name,
    renamed(inner, ours),
  ]);
  const named = entries.flatMap(([name, inner]): [string, unknown][] => {
    const known = ours.get(name);
    return known === undefined ? [] : [[known, inner]];
  });
  // What the operator named comes last, so that it wins over a field that happens to have our name.
  return Object.fromEntries([...entries.filter(([name]) => !ours.has(name)), ...named]);
}
