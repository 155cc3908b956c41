import {
  type FieldRules,
  matching,
  number,
  oneOfField,
  required,
  textField,
  url,
  wholeField,
  words,
} from './wire-fields.js';

const MAX_SECONDS = 36_000;

const seconds = () => number(0, MAX_SECONDS);
const EVERY: FieldRules = { hook_url: url() };
const CLIP: FieldRules = { ...EVERY, clip_id: required(words(200)) };
const REWORK: FieldRules = {
  ...CLIP,
  instruction: required(words(3000)),
  title: textField(80),
  seed: matching(/^\d{1,10}$/, 'a number as text'),
};

/** The fields of each operation of the second family; any other field is refused. */
export const FLOW_FIELDS = {
  generations: {
    ...EVERY,
    sound_prompt: textField(3000),
    lyrics: textField(5000),
    title: textField(80),
    model: oneOfField('Lyria 3 Pro'),
    seed: matching(/^\d{1,10}$/, 'a number as text'),
    bpm: wholeField(1, 300),
    length: wholeField(1, 240),
  },
  lyrics: { ...EVERY, prompt: required(words(3000)) },
  extend: { ...REWORK, extend_from_s: required(seconds()), extend_s: required(number(1, 327)) },
  replace: { ...REWORK, start_s: required(seconds()), end_s: required(seconds()) },
  cover: { ...REWORK, strength: required(number(0, 1)) },
  stems: CLIP,
  upload: { ...EVERY, audio_url: required(url()), title: textField(80) },
  download: { ...CLIP, format: required(oneOfField('mp3', 'wav')) },
  video: { ...CLIP, preset: required(oneOfField('modern', 'player', 'simple')) },
} satisfies Record<string, FieldRules>;

/** An operation of the second family. */
export type FlowOperation = keyof typeof FLOW_FIELDS;
