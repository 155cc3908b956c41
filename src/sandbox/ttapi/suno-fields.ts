import { STEM_WORDS } from './song-making.js';
import {
  type FieldRules,
  flag,
  list,
  matching,
  number,
  oneOfField,
  required,
  textField,
  url,
  wholeField,
  words,
} from './wire-fields.js';

/** Longest track, in seconds. */
const MAX_SECONDS = 36_000;
const KEYS = ['C', 'C#', 'D', 'D#', 'E', 'F', 'F#', 'G', 'G#', 'A', 'A#', 'B'].flatMap((key) => [
  key,
  `${key}m`,
]);

const seconds = () => number(0, MAX_SECONDS);
const id = () => words(200);
/** Every operation may name a callback URL and may ask that copies are kept. */
const EVERY: FieldRules = { isStorage: flag(), hookUrl: url() };
const SOURCE: FieldRules = { ...EVERY, music_id: required(id()) };
const MODEL: FieldRules = {
  mv: required(matching(/^chirp-(hawk|hawk-wild|goose|custom:\w+)$/, 'a model')),
};
const MAX_MODE: FieldRules = { max_mode: flag() };
const STYLE: FieldRules = {
  prompt: textField(5000),
  title: textField(80),
  tags: textField(1000),
  negative_tags: textField(1000),
};
const CONTROLS: FieldRules = {
  ...MAX_MODE,
  style_weight: number(0, 1),
  weirdness_constraint: number(0, 1),
  audio_weight: number(0, 1),
  auto_lyrics: flag(),
  vocal_gender: oneOfField('Male', 'Female'),
  persona_id: id(),
  variety: wholeField(0, 4),
  duration: wholeField(10, 360),
};
/** A generation from lyrics or from a description. */
const CREATION: FieldRules = {
  ...EVERY,
  ...MODEL,
  ...STYLE,
  ...CONTROLS,
  custom: required(flag()),
  instrumental: flag(),
  gpt_description_prompt: textField(3000),
};
const CREATION_OF_SOURCE: FieldRules = { ...CREATION, music_id: required(id()) };
const FADE: FieldRules = {
  ...SOURCE,
  fade_time_s: required(seconds()),
  title: required(textField(80)),
};
const CROP: FieldRules = {
  ...SOURCE,
  crop_start_s: required(seconds()),
  crop_end_s: required(seconds()),
};

/** The fields of each operation of the first family; any other field is refused. */
export const SUNO_FIELDS = {
  music: { ...CREATION, instrumental: required(flag()) },
  lyrics: {
    ...EVERY,
    prompt: required(words(3000)),
    lyrics_model: oneOfField('classic', 'remi'),
  },
  inspo: {
    ...EVERY,
    ...MODEL,
    ...STYLE,
    ...CONTROLS,
    instrumental: flag(),
    audio_urls: required(list(1, 4, url())),
  },
  sounds: {
    ...EVERY,
    ...MODEL,
    sound: required(words(500)),
    type: required(oneOfField('one-shot', 'loop')),
    bpm: wholeField(1, 300),
    key: oneOfField(...KEYS),
  },
  'upsample-tags': { ...EVERY, tags: required(words(1000)) },
  upload: { ...EVERY, audio_url: required(url()), is_async: flag() },
  'custom-model': {
    ...EVERY,
    name: required(words(80)),
    audio_urls: required(list(6, 24, url())),
  },
  extend: {
    ...CREATION_OF_SOURCE,
    mv: matching(/^chirp-/, 'a model'),
    continue_at: required(seconds()),
  },
  cover: CREATION_OF_SOURCE,
  remaster: {
    ...SOURCE,
    ...MODEL,
    variation_category: oneOfField('subtle', 'normal', 'high'),
    style_profile: oneOfField('natural', 'boost', 'clarity'),
  },
  'replace-section': {
    ...SOURCE,
    ...MODEL,
    ...STYLE,
    ...CONTROLS,
    infill_start_s: required(seconds()),
    infill_end_s: required(seconds()),
    infill_lyrics: textField(5000),
  },
  'remove-section': CROP,
  crop: CROP,
  'fade-in': FADE,
  'fade-out': FADE,
  'adjust-speed': {
    ...SOURCE,
    speed_multiplier: required(number(0.25, 4)),
    keep_pitch: required(flag()),
    title: required(textField(80)),
  },
  concat: SOURCE,
  mashup: {
    ...CREATION,
    instrumental: required(flag()),
    music_ids: required(list(2, 2, id())),
  },
  sample: {
    ...CREATION_OF_SOURCE,
    instrumental: required(flag()),
    start_s: required(seconds()),
    end_s: required(seconds()),
  },
  stems: { ...SOURCE, stem_type: oneOfField(...STEM_WORDS) },
  'stems-all': SOURCE,
  'add-vocals': CREATION_OF_SOURCE,
  'add-instrumental': CREATION_OF_SOURCE,
  'add-stem': {
    ...SOURCE,
    ...MODEL,
    ...MAX_MODE,
    ...STYLE,
    stem_type: required(oneOfField(...STEM_WORDS)),
    start_s: seconds(),
    end_s: seconds(),
  },
  'create-voice': {
    ...EVERY,
    audio_url: required(url()),
    name: textField(80),
    description: textField(500),
  },
  vox: { ...SOURCE, vocal_start_s: required(seconds()), vocal_end_s: required(seconds()) },
  persona: {
    ...SOURCE,
    name: required(words(80)),
    describe: textField(500),
    styles: textField(1000),
    vox_audio_id: id(),
    vocal_start_s: seconds(),
    vocal_end_s: seconds(),
  },
  'gen-midi': SOURCE,
  alignedLyrics: SOURCE,
  bpm: SOURCE,
  mp4: SOURCE,
  download: { ...SOURCE, formats: required(list(1, 3, oneOfField('mp3', 'm4a', 'wav'))) },
} satisfies Record<string, FieldRules>;

/** An operation of the first family. */
export type SunoOperation = keyof typeof SUNO_FIELDS;
