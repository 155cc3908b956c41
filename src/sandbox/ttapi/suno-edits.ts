import { type Piece, secondsOf } from '../media/sound/piece.js';
import { PARTS } from '../media/sound/music-sound.js';
import { changed, from, rangeOf, upTo, partOf, stemTitle, withoutPart } from './song-making.js';
import type { Clip, SongOperation } from './song-product.js';
import type { SunoOperation } from './suno-fields.js';
import { refuseSong, type WireFields } from './wire-fields.js';

const CROP = ['crop_start_s', 'crop_end_s'] as const;
const DEFAULT_STEM = 'lead_vocal';

/** An operation that makes one track from another. */
function edit(make: (source: Clip, fields: WireFields) => Piece): SongOperation<WireFields> {
  return (fields, desk) => {
    const source = desk.clip(fields.text('music_id'));
    return { clips: [changed(source, make(source, fields), fields.text('title'))] };
  };
}

/** Operations that change a track and compose nothing. */
export const SUNO_EDITS = {
  upload: async (fields, desk) => ({ clips: [await desk.imported(fields.text('audio_url'))] }),
  'remove-section': edit(({ piece }, fields) => {
    const { start, end } = rangeOf(piece, fields, CROP);
    const parts = [...upTo(piece, start), ...from(piece, end)];
    return parts.length > 0 ? { kind: 'chain', parts } : refuseSong('crop_end_s: nothing is left');
  }),
  crop: edit(({ piece }, fields) => {
    return { kind: 'cut', of: piece, ...rangeOf(piece, fields, CROP) };
  }),
  'fade-in': edit(({ piece }, fields) => {
    return { kind: 'faded', of: piece, in: fadeOf(piece, fields), out: 0 };
  }),
  'fade-out': edit(({ piece }, fields) => {
    return { kind: 'faded', of: piece, in: 0, out: fadeOf(piece, fields) };
  }),
  'adjust-speed': edit(({ piece }, fields) => ({
    kind: 'faster',
    of: piece,
    factor: fields.number('speed_multiplier', 1),
    keepsPitch: fields.flag('keep_pitch'),
  })),
  concat: edit(({ piece, before }) => {
    if (before === undefined) return refuseSong('music_id: is not the extension of a track');
    return { kind: 'chain', parts: [before, piece] };
  }),
  stems: (fields, desk) => {
    const source = desk.clip(fields.text('music_id'));
    const type = fields.text('stem_type') || DEFAULT_STEM;
    const part = partOf(type);
    const others: Piece = { kind: 'parts', of: source.piece, parts: withoutPart(part) };
    const stem: Piece = { kind: 'parts', of: source.piece, parts: [part] };
    const name = stemTitle(type);
    return {
      clips: [
        changed(source, stem, `${source.title} (${name})`),
        changed(source, others, `${source.title} (No ${name})`),
      ],
    };
  },
  'stems-all': (fields, desk) => {
    const source = desk.clip(fields.text('music_id'));
    return {
      clips: PARTS.map((part) =>
        changed(
          source,
          { kind: 'parts', of: source.piece, parts: [part] },
          `${source.title} (${stemTitle(part)})`,
        ),
      ),
    };
  },
} satisfies Partial<Record<SunoOperation, SongOperation<WireFields>>>;

/** Length of a fade in seconds. Throws 400 if it is longer than the track. */
function fadeOf(piece: Piece, fields: WireFields): number {
  const seconds = fields.number('fade_time_s');
  if (seconds > secondsOf(piece)) refuseSong('fade_time_s: is longer than the track');
  return seconds;
}
