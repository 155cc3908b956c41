import { BAND } from '../media/sound/music-score.js';
import { type Piece, playedNotes, sungText, type Timed, timed } from '../media/sound/piece.js';
import { spokenCharacters } from '../media/sound/speech.js';

const SAME_BEAT_SECONDS = 0.001;
const STEPS_PER_BEAT = 2;

/** Sung words, or sung lines. */
export interface SungText extends Timed {
  readonly text: string;
}

const WORD = /\S+/g;
const LINE = /[^\n]+/g;

/** Every word that is sung, with the time at which the voice sings it. */
export function sungWords(piece: Piece): SungText[] {
  return sung(piece, WORD);
}

/** Every line that is sung, with its times. */
export function sungLines(piece: Piece): SungText[] {
  return sung(piece, LINE);
}

function sung(piece: Piece, pattern: RegExp): SungText[] {
  return timed(
    piece,
    (song) => {
      const text = sungText(song);
      const timeline = spokenCharacters(text, song.seconds);
      const all = [...text.matchAll(pattern)].filter(({ 0: found }) => found.trim() !== '');
      return all.map(({ 0: found, index }) => {
        // Times belong to whole characters (code points), but positions in the text count UTF-16 units.
        const first = Array.from(text.slice(0, index)).length;
        const last = first + Array.from(found).length - 1;
        return {
          text: found,
          start: timeline[first]?.start ?? 0,
          end: timeline[last]?.end ?? song.seconds,
        };
      });
    },
    ['vocals'],
  );
}

/** The notes of every instrument that plays. */
export function instrumentsOf(piece: Piece): object[] {
  return BAND.map((instrument) => ({
    name: instrument.charAt(0).toUpperCase() + instrument.slice(1),
    notes: playedNotes(piece, instrument).map(({ pitch, start, end, velocity }) => ({
      pitch,
      start: rounded(start),
      end: rounded(end),
      velocity,
    })),
  })).filter(({ notes }) => notes.length > 0);
}

/** Beats per minute of a piece. Undefined where no beat is heard. */
export function tempoOf(piece: Piece): { average: number; min: number; max: number } | undefined {
  const starts = [...new Set(playedNotes(piece, 'drums').map(({ start }) => start))].sort(
    (a, b) => a - b,
  );
  const steps = starts
    .slice(1)
    .map((start, index) => start - (starts[index] ?? 0))
    .filter((step) => step > SAME_BEAT_SECONDS)
    .sort((a, b) => a - b);
  const middle = steps[Math.floor(steps.length / 2)];
  if (middle === undefined) return undefined;
  const average = rounded(60 / (middle * STEPS_PER_BEAT));
  return { average, min: average, max: average };
}

/** Seconds as whole milliseconds. */
export function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
