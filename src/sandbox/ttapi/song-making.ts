import { type Piece, secondsOf, type SongPiece } from '../media/sound/piece.js';
import { titleOf, writeLyrics } from './lyric-writer.js';
import type { Clip, SongMaker } from './song-product.js';
import { refuseSong, type WireFields } from './wire-fields.js';

const DEFAULT_SECONDS = 30;
const [FEMALE_HZ, MALE_HZ] = [220, 125];
/** Times may be out of range by this much, in seconds, because they were rounded. */
const TOLERANCE = 0.5;

/** What a new song is composed from. */
export interface SongIdea {
  readonly title: string;
  readonly tags: string;
  /** Decides the music. */
  readonly style: string;
  /** Empty for an instrumental song. */
  readonly lyrics: string;
  readonly pitchHz: number;
}

/** The idea of a generation. It comes from lyrics (`custom`) or from a description. */
export function ideaOf(fields: WireFields, source?: Clip): SongIdea {
  const pitchHz = fields.text('vocal_gender') === 'Male' ? MALE_HZ : FEMALE_HZ;
  const isInstrumental = fields.flag('instrumental');
  if (fields.has('custom') && !fields.flag('custom')) {
    const description = fields.text('gpt_description_prompt');
    const written = writeLyrics(description);
    const lyrics = isInstrumental ? '' : written.text;
    return { title: written.title, tags: written.tags, style: description, lyrics, pitchHz };
  }
  const prompt = fields.text('prompt');
  const lyrics = fields.flag('auto_lyrics') ? writeLyrics(prompt).text : prompt;
  const tags = fields.text('tags');
  const title = fields.text('title') || (source?.title ?? titleOf(tags));
  const style = `${tags} ${title}`;
  return { title, tags, style, lyrics: isInstrumental ? '' : lyrics, pitchHz };
}

/** A song of this idea. Another variant gives other music. */
export function songOf(idea: SongIdea, seconds: number, variant = 1): SongPiece {
  const style = variant === 1 ? idea.style : `${idea.style} ${variant}`;
  return { kind: 'song', style, lyrics: idea.lyrics, seconds, pitchHz: idea.pitchHz };
}

/** The requested length in seconds, or the default. */
export function lengthOf(fields: WireFields, otherwise = DEFAULT_SECONDS): number {
  return fields.number('duration', otherwise);
}

/** New tracks, as many as one operation makes. */
export function variantsOf(
  desk: SongMaker,
  idea: SongIdea,
  make: (variant: number) => Pick<Clip, 'piece' | 'before'>,
): Clip[] {
  const { title, lyrics, tags } = idea;
  return Array.from({ length: desk.variants }, (_, index) => ({
    title,
    lyrics,
    tags,
    ...make(index + 1),
  }));
}

/** The same track after an edit. */
export function changed(clip: Clip, piece: Piece, title = ''): Clip {
  const { lyrics, tags } = clip;
  return { title: title === '' ? clip.title : title, lyrics, tags, piece };
}

/** A time range of a track. Throws 400 if it is empty or not within the track. */
export function rangeOf(
  piece: Piece,
  fields: WireFields,
  [startName, endName]: readonly [string, string],
): { start: number; end: number } {
  const seconds = secondsOf(piece);
  const start = fields.number(startName);
  const end = fields.number(endName);
  if (end <= start) refuseSong(`${endName}: must be after ${startName}`);
  if (end > seconds + TOLERANCE) refuseSong(`${endName}: lies behind the end of the track`);
  return { start: Math.min(start, seconds), end: Math.min(end, seconds) };
}

/** A piece up to this second; undefined if nothing is before it. */
export function upTo(piece: Piece, end: number): Piece[] {
  return end > 0 ? [{ kind: 'cut', of: piece, start: 0, end }] : [];
}

/** A piece from this second on; undefined if nothing is after it. */
export function from(piece: Piece, start: number): Piece[] {
  const end = secondsOf(piece);
  return start < end ? [{ kind: 'cut', of: piece, start, end }] : [];
}

/** The second at which a track is continued. Throws 400 if it is after the end. */
export function joinOf(piece: Piece, fields: WireFields, name: string): number {
  const at = fields.number(name);
  const seconds = secondsOf(piece);
  if (at > seconds + TOLERANCE) refuseSong(`${name}: lies behind the end of the track`);
  return Math.min(at, seconds);
}
