import { type Piece, secondsOf, type SongPiece } from '../media/sound/piece.js';
import type { Clip, SongMaker } from './song-product.js';
import { refuseSong, type WireFields } from './wire-fields.js';
import { hashText, seededRandom } from '../media/seeded-random.js';
import { type Part, PARTS } from '../media/sound/music-sound.js';

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

const RHYMES = [
  ['the morning light', 'hold on tight', 'the edge of night', 'out of sight'],
  ['along the way', 'what you say', 'another day', 'here to stay'],
  ['the open sea', 'come with me', 'wild and free', 'the tallest tree'],
];
const OPENINGS = ['We follow', 'I remember', 'You whisper to', 'They are calling for'];
const STYLES = [
  'warm',
  'gentle drums',
  'wide strings',
  'slow build',
  'bright chorus',
  'soft piano',
];
const MAX_TITLE_WORDS = 4;

/** Lyrics as a provider writes them. */
export interface LyricSheet {
  readonly title: string;
  readonly text: string;
  readonly tags: string;
}

/** A verse and a chorus about an idea. The same idea always gives the same words. */
export function writeLyrics(idea: string, variant = 1): LyricSheet {
  const random = seededRandom(hashText(`${idea} ${variant}`));
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const verse = (): string =>
    pick(RHYMES)
      .map((end) => `${pick(OPENINGS)} ${end}`)
      .join('\n');
  const title = titleOf(idea);
  return {
    title,
    text: `[Verse]\n${verse()}\n\n[Chorus]\n${title}\n${verse()}`,
    tags: [pick(STYLES), pick(STYLES)].join(', '),
  };
}

/** The first words of a text. */
export function titleOf(idea: string): string {
  const words = idea.split(/\s+/).filter((word) => word !== '');
  const title = words.slice(0, MAX_TITLE_WORDS).join(' ').slice(0, 80);
  return title === '' ? 'Untitled' : title;
}

/** Adds more tags to the tags of a style. */
export function moreTags(tags: string): string {
  return [tags, ...STYLES.filter((style) => !tags.includes(style)).slice(0, 3)].join(', ');
}

/** The stems that a request may name. */
export const STEM_WORDS: readonly string[] = (
  'lead_vocal backing_vocals drum_kit bass piano electric_guitar acoustic_guitar guitar percussion string_section synth ' +
  'sound_effects synth_pad synth_bass brass_section organ electronic_drum_kit lead_electric_guitar synth_keys ' +
  'rhythm_electric_guitar electric_piano upright_bass keyboards distorted_electric_guitar kick snare risers synth_strings ' +
  'synth_lead woodwinds flute harp tambourine trumpet arpeggiator accordion fiddle pedal_steel_guitar synth_voice violin ' +
  'digital_piano synth_brass mandolin choir banjo bells clarinet tenor_saxophone trombone shaker french_horn glockenspiel ' +
  'electric_bass cello timpani harmonica marimba vibraphone lap_steel_guitar saxophone orchestra horns cymbals hand_clap ' +
  'oboe celesta congas'
).split(' ');

const KINDS: readonly (readonly [pattern: RegExp, part: Part])[] = [
  [/vocal|voice|choir/, 'vocals'],
  [/drum|percussion|kick|snare|tambourine|shaker|timpani|cymbals|clap|congas|effects/, 'drums'],
  [/bass/, 'bass'],
  [/pad|string|organ|keys|orchestra|section|risers/, 'pad'],
];

/** The part of a piece that contains a stem. */
export function partOf(stemType: string): Part {
  return KINDS.find(([pattern]) => pattern.test(stemType))?.[1] ?? 'lead';
}

/** All parts but one. */
export function withoutPart(part: Part): Part[] {
  return PARTS.filter((other) => other !== part);
}

/** `lead_vocal` as a title: "Lead Vocal". */
export function stemTitle(stemType: string): string {
  return stemType
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}
