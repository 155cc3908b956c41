import { type Part, PARTS } from '../media/sound/music-sound.js';

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
