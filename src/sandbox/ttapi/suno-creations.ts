import { type Piece, secondsOf } from '../media/sound/piece.js';
import type { Part } from '../media/sound/music-sound.js';
import {
  titleOf,
  changed,
  from,
  ideaOf,
  joinOf,
  lengthOf,
  rangeOf,
  songOf,
  upTo,
  variantsOf,
  partOf,
} from './song-making.js';
import type { Clip, SongOperation, SongMaker } from './song-product.js';
import type { SunoOperation } from './suno-fields.js';
import { refuseSong, type WireFields } from './wire-fields.js';

const BAND_PARTS: readonly Part[] = ['drums', 'bass', 'lead', 'pad'];
const ONE_SHOT_SECONDS = 3;
const LOOP_SECONDS = 8;
/** For these operations an empty `prompt` means an instrumental track. */
const WITHOUT_LYRICS: readonly SunoOperation[] = ['cover', 'add-instrumental'];

/** Operations that make new tracks. They name a version of the model. */
export const SUNO_CREATIONS = {
  music: creation('music', (fields, desk) => newSongs(fields, desk)),
  inspo: (fields, desk) => {
    demandModel(fields, desk);
    return newSongs(fields, desk, fields.texts('audio_urls').join(' '));
  },
  sounds: (fields, desk) => {
    const prompt = fields.text('sound');
    const loops = fields.text('type') === 'loop';
    const seconds = loops ? LOOP_SECONDS : ONE_SHOT_SECONDS;
    const style = [prompt, fields.text('key'), fields.number('bpm')].join(' ');
    const idea = { title: titleOf(prompt), tags: style, style, lyrics: '', pitchHz: 1 };
    return {
      clips: variantsOf(desk, idea, (variant) => ({
        piece: { kind: 'effect', prompt: `${style} ${variant}`, seconds, loops },
      })),
    };
  },
  extend: creation('extend', (fields, desk) => {
    const source = desk.clip(fields.text('music_id'));
    const at = joinOf(source.piece, fields, 'continue_at');
    const before: Piece = { kind: 'chain', parts: upTo(source.piece, at) };
    const idea = ideaOf(fields, source);
    const piece = (variant: number) => songOf(idea, lengthOf(fields), variant);
    return {
      clips: variantsOf(desk, idea, (variant) => ({ piece: piece(variant), before })),
    };
  }),
  cover: creation('cover', (fields, desk) => {
    const source = desk.clip(fields.text('music_id'));
    const idea = ideaOf(fields, source);
    const seconds = lengthOf(fields, secondsOf(source.piece));
    return {
      clips: variantsOf(desk, idea, (variant) => ({ piece: songOf(idea, seconds, variant) })),
    };
  }),
  remaster: (fields, desk) => {
    demandModel(fields, desk);
    const source = desk.clip(fields.text('music_id'));
    return { clips: Array.from({ length: desk.variants }, () => changed(source, source.piece)) };
  },
  'replace-section': (fields, desk) => {
    demandModel(fields, desk);
    const source = desk.clip(fields.text('music_id'));
    const { start, end } = rangeOf(source.piece, fields, ['infill_start_s', 'infill_end_s']);
    const idea = { ...ideaOf(fields, source), lyrics: fields.text('infill_lyrics') };
    return {
      clips: variantsOf(desk, idea, (variant) => ({
        piece: {
          kind: 'chain',
          parts: [
            ...upTo(source.piece, start),
            songOf(idea, end - start, variant),
            ...from(source.piece, end),
          ],
        },
      })),
    };
  },
  mashup: creation('mashup', (fields, desk) => {
    const sources = fields.texts('music_ids').map((id) => desk.clip(id));
    const idea = ideaOf(fields, sources[0]);
    const parts = sources.map(({ piece }) => piece);
    return {
      clips: variantsOf(desk, idea, (variant) => ({
        piece: { kind: 'mix', parts: variant % 2 === 1 ? parts : parts.toReversed() },
      })),
    };
  }),
  sample: creation('sample', (fields, desk) => {
    const source = desk.clip(fields.text('music_id'));
    const { start, end } = rangeOf(source.piece, fields, ['start_s', 'end_s']);
    const idea = ideaOf(fields, source);
    return {
      clips: variantsOf(desk, idea, (variant) => ({
        piece: {
          kind: 'chain',
          parts: [
            { kind: 'cut', of: source.piece, start, end },
            songOf(idea, lengthOf(fields), variant),
          ],
        },
      })),
    };
  }),
  'add-vocals': creation('add-vocals', (fields, desk) => layered(fields, desk, ['vocals'])),
  'add-instrumental': creation('add-instrumental', (fields, desk) =>
    layered(fields, desk, BAND_PARTS),
  ),
  'add-stem': (fields, desk) => {
    demandModel(fields, desk);
    return layered(fields, desk, [partOf(fields.text('stem_type'))]);
  },
} satisfies Partial<Record<SunoOperation, SongOperation<WireFields>>>;

/** A generation. Its description or its lyrics are required, and its model and singer have to exist. */
function creation(
  operation: SunoOperation,
  make: SongOperation<WireFields>,
): SongOperation<WireFields> {
  return (fields, desk) => {
    if (!fields.flag('custom') && fields.text('gpt_description_prompt') === '') {
      refuseSong('gpt_description_prompt: is required when custom is false');
    }
    const mayBeMute = fields.flag('instrumental') || WITHOUT_LYRICS.includes(operation);
    if (fields.flag('custom') && !mayBeMute && fields.text('prompt') === '') {
      refuseSong('prompt: is required when custom is true');
    }
    demandModel(fields, desk);
    return make(fields, desk);
  };
}

function demandModel(fields: WireFields, desk: SongMaker): void {
  const [, customId] = /^chirp-custom:(.*)$/.exec(fields.text('mv')) ?? [];
  if (customId !== undefined) desk.demand('custom-model', customId, 'mv');
  if (fields.has('persona_id')) desk.demand('persona', fields.text('persona_id'), 'persona_id');
}

function newSongs(fields: WireFields, desk: SongMaker, inspiration = ''): { clips: Clip[] } {
  const idea = ideaOf(fields);
  const inspired = { ...idea, style: `${idea.style} ${inspiration}`.trim() };
  return {
    clips: variantsOf(desk, idea, (variant) => ({
      piece: songOf(inspired, lengthOf(fields), variant),
    })),
  };
}

/** The source mixed with some parts of a new song, for its whole length or for a range of it. */
function layered(fields: WireFields, desk: SongMaker, parts: readonly Part[]): { clips: Clip[] } {
  const source = desk.clip(fields.text('music_id'));
  const whole = { start: 0, end: secondsOf(source.piece) };
  const range = fields.has('end_s') ? rangeOf(source.piece, fields, ['start_s', 'end_s']) : whole;
  const idea = ideaOf(fields, source);
  const layer = (variant: number): Piece => ({
    kind: 'chain',
    parts: [
      { kind: 'silence', seconds: range.start },
      { kind: 'parts', of: songOf(idea, range.end - range.start, variant), parts },
    ],
  });
  return {
    clips: variantsOf(desk, idea, (variant) => ({
      piece: { kind: 'mix', parts: [source.piece, layer(variant)] },
    })),
  };
}
