import { secondsOf } from '../media/sound/piece.js';
import type { PieceFormat } from '../media/audio-files/piece-file.js';
import {
  titleOf,
  writeLyrics,
  changed,
  from,
  joinOf,
  rangeOf,
  songOf,
  type SongIdea,
  upTo,
} from './song-making.js';
import type { Clip, SongOperation } from './song-product.js';
import {
  refuseSong,
  type WireFields,
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

const DEFAULT_SECONDS = 30;
const VOICE_HZ = 200;
const VIDEO = { width: 1280, height: 720 };

/** The operations of the second family: each makes one clip or one file. */
export const FLOW_OPERATIONS: Readonly<Record<FlowOperation, SongOperation<WireFields>>> = {
  generations: (fields) => {
    const style = fields.text('sound_prompt');
    const lyrics = fields.text('lyrics');
    if (style === '' && lyrics === '') refuseSong('sound_prompt: is required without lyrics');
    const isInstrumental = style.startsWith('Instrumental.');
    const words = lyrics === '' && !isInstrumental ? writeLyrics(style).text : lyrics;
    const title = fields.text('title') || titleOf(style || lyrics);
    const music = [style, fields.text('seed'), fields.number('bpm')].join(' ');
    const idea = { title, tags: style, style: music, lyrics: words, pitchHz: VOICE_HZ };
    const piece = songOf(idea, fields.number('length', DEFAULT_SECONDS));
    return { clips: [{ title, lyrics: words, tags: style, piece }] };
  },
  lyrics: (fields) => {
    const { text: lyrics, title } = writeLyrics(fields.text('prompt'));
    return { plain: { lyrics, title } };
  },
  extend: (fields, desk) => {
    const source = desk.clip(fields.text('clip_id'));
    const at = joinOf(source.piece, fields, 'extend_from_s');
    const rest = songOf(reworked(fields, source), fields.number('extend_s'));
    const parts = [...upTo(source.piece, at), rest];
    return { clips: [changed(source, { kind: 'chain', parts }, fields.text('title'))] };
  },
  replace: (fields, desk) => {
    const source = desk.clip(fields.text('clip_id'));
    const { start, end } = rangeOf(source.piece, fields, ['start_s', 'end_s']);
    const middle = songOf(reworked(fields, source), end - start);
    const parts = [...upTo(source.piece, start), middle, ...from(source.piece, end)];
    return { clips: [changed(source, { kind: 'chain', parts }, fields.text('title'))] };
  },
  cover: (fields, desk) => {
    const source = desk.clip(fields.text('clip_id'));
    const piece = songOf(reworked(fields, source), secondsOf(source.piece));
    return { clips: [changed(source, piece, fields.text('title'))] };
  },
  stems: (fields, desk) => ({ archive: desk.clip(fields.text('clip_id')) }),
  upload: async (fields, desk) => {
    const clip = await desk.imported(fields.text('audio_url'));
    return { clips: [changed(clip, clip.piece, fields.text('title'))] };
  },
  download: (fields, desk) => {
    const clip = desk.clip(fields.text('clip_id'));
    return { files: [{ clip, format: fields.text('format') as PieceFormat }] };
  },
  video: (fields, desk) => ({
    video: { clip: desk.clip(fields.text('clip_id')), ...VIDEO },
  }),
};

/** New music that follows an instruction and keeps the words of the source. */
function reworked(fields: WireFields, { title, tags, lyrics }: Clip): SongIdea {
  const style = `${fields.text('instruction')} ${fields.text('seed')}`;
  return { title, tags, style, lyrics, pitchHz: VOICE_HZ };
}
