import { GatewayError } from '../../common/errors/gateway-error.js';
import { Custom, type FieldOptions, oneOfWords } from '../../common/validation/fields.js';
import type { SongTask } from './shared-groups.body.js';

/** The stems that can be extracted from a song or added to it, unless the row of a model lists its own. */
const STEM_TYPES = [
  'lead_vocal',
  'backing_vocals',
  'drum_kit',
  'bass',
  'piano',
  'electric_guitar',
  'acoustic_guitar',
  'guitar',
  'percussion',
  'string_section',
  'synth',
  'sound_effects',
  'synth_pad',
  'synth_bass',
  'brass_section',
  'organ',
  'electronic_drum_kit',
  'lead_electric_guitar',
  'synth_keys',
  'rhythm_electric_guitar',
  'electric_piano',
  'upright_bass',
  'keyboards',
  'distorted_electric_guitar',
  'kick',
  'snare',
  'risers',
  'synth_strings',
  'synth_lead',
  'woodwinds',
  'flute',
  'harp',
  'tambourine',
  'trumpet',
  'arpeggiator',
  'accordion',
  'fiddle',
  'pedal_steel_guitar',
  'synth_voice',
  'violin',
  'digital_piano',
  'synth_brass',
  'mandolin',
  'choir',
  'banjo',
  'bells',
  'clarinet',
  'tenor_saxophone',
  'trombone',
  'shaker',
  'french_horn',
  'glockenspiel',
  'electric_bass',
  'cello',
  'timpani',
  'harmonica',
  'marimba',
  'vibraphone',
  'lap_steel_guitar',
  'saxophone',
  'orchestra',
  'horns',
  'cymbals',
  'hand_clap',
  'oboe',
  'celesta',
  'congas',
] as const;

/** A stem. {@link checkStemType} decides whether the model knows it. */
export function StemType(options: FieldOptions): PropertyDecorator {
  const api = { type: String, enum: [...STEM_TYPES] };
  const isText = (value: unknown): boolean => typeof value === 'string';
  return Custom(isText, 'must be a string', { ...options, api });
}

/** Throws GatewayError `invalid_music_request` for a stem that is not in the list. */
export function checkStemType(song: SongTask, known: readonly string[] = STEM_TYPES): void {
  const { stem_type: stem } = song as { readonly stem_type?: string };
  if (stem === undefined || known.includes(stem)) return;
  const message = `stem_type must be ${oneOfWords(known)}.`;
  throw new GatewayError('invalid_music_request', message, { param: 'stem_type' });
}
