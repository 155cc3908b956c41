import { effectSound } from './effect-sound.js';
import { composed, notesOf, type Instrument, type Note } from './music-score.js';
import { musicSound, type Part, PARTS } from './music-sound.js';
import { hashText } from '../seeded-random.js';
import {
  joinSounds,
  type Waveform,
  cutSound,
  fadedSound,
  mixedSounds,
  pitchedSound,
  silence,
} from './sound.js';
import { speechOfLength } from './speech.js';

const MIX_GAIN = 0.7;

/** A recording, described as plain JSON: what was composed, and which edits followed. Times are in seconds. */
export type Piece =
  | SongPiece
  | EffectPiece
  | { readonly kind: 'silence'; readonly seconds: number }
  | { readonly kind: 'cut'; readonly of: Piece; readonly start: number; readonly end: number }
  /** One piece after the other. */
  | { readonly kind: 'chain'; readonly parts: readonly Piece[] }
  /** Several pieces at the same time. */
  | { readonly kind: 'mix'; readonly parts: readonly Piece[] }
  | { readonly kind: 'faded'; readonly of: Piece; readonly in: number; readonly out: number }
  | {
      readonly kind: 'faster';
      readonly of: Piece;
      readonly factor: number;
      readonly keepsPitch: boolean;
    }
  /** Some parts of a piece without the others. */
  | { readonly kind: 'parts'; readonly of: Piece; readonly parts: readonly Part[] };

/** A composed song. Without lyrics there is no singing. */
export interface SongPiece {
  readonly kind: 'song';
  /** Decides the music: the same style always gives the same music. */
  readonly style: string;
  readonly lyrics: string;
  readonly seconds: number;
  readonly pitchHz: number;
}

interface EffectPiece {
  readonly kind: 'effect';
  readonly prompt: string;
  readonly seconds: number;
  readonly loops: boolean;
}

/** How long a piece lasts, in seconds. */
export function secondsOf(piece: Piece): number {
  switch (piece.kind) {
    case 'song':
    case 'effect':
    case 'silence':
      return piece.seconds;
    case 'cut':
      return piece.end - piece.start;
    case 'chain':
      return piece.parts.reduce((sum, part) => sum + secondsOf(part), 0);
    case 'mix':
      return Math.max(...piece.parts.map(secondsOf));
    case 'faster':
      return secondsOf(piece.of) / piece.factor;
    case 'faded':
    case 'parts':
      return secondsOf(piece.of);
  }
}

/** Which parts of a piece are heard, and how fast it is played. */
interface Hearing {
  readonly parts: ReadonlySet<Part>;
  readonly tempo: number;
}

/** The sound of a piece. The sounds of its parts add up to it. */
export function soundOf(
  piece: Piece,
  hearing: Hearing = { parts: new Set(PARTS), tempo: 1 },
): Waveform {
  const { parts, tempo } = hearing;
  const inner = (of: Piece): Waveform => soundOf(of, hearing);
  switch (piece.kind) {
    case 'song':
      return songSound(piece, hearing);
    case 'effect':
      return effectHeard(piece, hearing);
    case 'silence':
      return silence(piece.seconds / tempo);
    case 'cut':
      return cutSound(inner(piece.of), piece.start / tempo, piece.end / tempo);
    case 'chain':
      return joinSounds(piece.parts.map(inner));
    case 'mix':
      return mixedSounds(piece.parts.map(inner), MIX_GAIN);
    case 'faded':
      return fadedSound(inner(piece.of), piece.in / tempo, piece.out / tempo);
    case 'faster':
      return piece.keepsPitch
        ? soundOf(piece.of, { parts, tempo: tempo * piece.factor })
        : pitchedSound(inner(piece.of), piece.factor);
    case 'parts': {
      const heard = piece.parts.filter((part) => parts.has(part));
      return soundOf(piece.of, { parts: new Set(heard), tempo });
    }
  }
}

/** An effect has no parts; it counts as part of the drums. */
function effectHeard(effect: EffectPiece, { parts, tempo }: Hearing): Waveform {
  const seconds = effect.seconds / tempo;
  return parts.has('drums') ? effectSound(effect.prompt, seconds, effect.loops) : silence(seconds);
}

function songSound(song: SongPiece, { parts, tempo }: Hearing): Waveform {
  const seconds = song.seconds / tempo;
  const lyrics = sungText(song);
  if (lyrics === '') return musicSound(song.style, seconds, { parts, tempo });
  const singer = { pitchHz: song.pitchHz, speed: 1, seed: hashText(song.style) };
  const vocals = speechOfLength(lyrics, seconds, singer);
  return musicSound(song.style, seconds, { vocals, parts, tempo });
}

/** The lyrics without their headings such as `[Chorus]`. */
export function sungText({ lyrics }: SongPiece): string {
  return lyrics.replace(/\[[^[\]\n]*\]/g, '').trim();
}

/** The notes that one instrument plays in a piece. */
export function playedNotes(piece: Piece, instrument: Instrument): Note[] {
  return timed(piece, ({ style, seconds }) => notesOf(composed(style), instrument, seconds), [
    instrument,
  ]);
}

/** A thing that lasts from one second to another. */
export interface Timed {
  readonly start: number;
  readonly end: number;
}

/**
 * What `read` finds in the songs of a piece, at the times where it is heard. A song counts only if one of `parts` is
 * heard in it.
 */
export function timed<Item extends Timed>(
  piece: Piece,
  read: (song: SongPiece) => Item[],
  parts: readonly Part[],
): Item[] {
  const inner = (of: Piece): Item[] => timed(of, read, parts);
  switch (piece.kind) {
    case 'song':
      return read(piece);
    case 'effect':
    case 'silence':
      return [];
    case 'cut':
      return inner(piece.of)
        .filter(({ start, end }) => end > piece.start && start < piece.end)
        .map((item) => ({
          ...item,
          start: Math.max(item.start, piece.start) - piece.start,
          end: Math.min(item.end, piece.end) - piece.start,
        }));
    case 'chain': {
      let at = 0;
      return piece.parts.flatMap((part) => {
        const moved = inner(part).map((item) => moveBy(item, at));
        at += secondsOf(part);
        return moved;
      });
    }
    case 'mix':
      return piece.parts.flatMap(inner).sort((a, b) => a.start - b.start);
    case 'faded':
      return inner(piece.of);
    case 'faster':
      return inner(piece.of).map((item) => ({
        ...item,
        start: item.start / piece.factor,
        end: item.end / piece.factor,
      }));
    case 'parts':
      return parts.some((part) => piece.parts.includes(part)) ? inner(piece.of) : [];
  }
}

function moveBy<Item extends Timed>(item: Item, seconds: number): Item {
  return { ...item, start: item.start + seconds, end: item.end + seconds };
}
