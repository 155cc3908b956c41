import { secondsOf } from '../media/sound/piece.js';
import type { PieceFormat } from '../media/audio-files/piece-file.js';
import type { FlowOperation } from './flow-fields.js';
import { titleOf, writeLyrics } from './lyric-writer.js';
import { changed, from, joinOf, rangeOf, songOf, type SongIdea, upTo } from './song-making.js';
import type { Clip, SongOperation } from './song-product.js';
import { refuseSong, type WireFields } from './wire-fields.js';

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
  extend: async (fields, desk) => {
    const source = await desk.clip(fields.text('clip_id'));
    const at = joinOf(source.piece, fields, 'extend_from_s');
    const rest = songOf(reworked(fields, source), fields.number('extend_s'));
    const parts = [...upTo(source.piece, at), rest];
    return { clips: [changed(source, { kind: 'chain', parts }, fields.text('title'))] };
  },
  replace: async (fields, desk) => {
    const source = await desk.clip(fields.text('clip_id'));
    const { start, end } = rangeOf(source.piece, fields, ['start_s', 'end_s']);
    const middle = songOf(reworked(fields, source), end - start);
    const parts = [...upTo(source.piece, start), middle, ...from(source.piece, end)];
    return { clips: [changed(source, { kind: 'chain', parts }, fields.text('title'))] };
  },
  cover: async (fields, desk) => {
    const source = await desk.clip(fields.text('clip_id'));
    const piece = songOf(reworked(fields, source), secondsOf(source.piece));
    return { clips: [changed(source, piece, fields.text('title'))] };
  },
  stems: async (fields, desk) => ({ archive: await desk.clip(fields.text('clip_id')) }),
  upload: async (fields, desk) => {
    const clip = await desk.imported(fields.text('audio_url'));
    return { clips: [changed(clip, clip.piece, fields.text('title'))] };
  },
  download: async (fields, desk) => {
    const clip = await desk.clip(fields.text('clip_id'));
    return { files: [{ clip, format: fields.text('format') as PieceFormat }] };
  },
  video: async (fields, desk) => ({
    video: { clip: await desk.clip(fields.text('clip_id')), ...VIDEO },
  }),
};

/** New music that follows an instruction and keeps the words of the source. */
function reworked(fields: WireFields, { title, tags, lyrics }: Clip): SongIdea {
  const style = `${fields.text('instruction')} ${fields.text('seed')}`;
  return { title, tags, style, lyrics, pitchHz: VOICE_HZ };
}
