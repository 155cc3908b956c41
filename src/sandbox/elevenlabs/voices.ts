import { hashText } from '../media/seeded-random.js';
import { WireFault } from '../http/protocol.js';

type Register = 'low' | 'middle' | 'high';

/** Lowest pitch in Hz of each register; a voice adds up to 40 Hz. */
const PITCH_HZ: Readonly<Record<Register, number>> = { low: 88, middle: 140, high: 175 };

/** The vendor's premade voices. */
const VOICES: readonly (readonly [id: string, name: string, register: Register])[] = [
  ['pNInz6obpgDQGcFmaJgB', 'Adam', 'low'],
  ['Xb7hH8MSUJpSbSDYk0k2', 'Alice', 'high'],
  ['hpp4J3VqNfWAUOO0d1Us', 'Bella', 'high'],
  ['pqHfZKP75CvOlQylNhV4', 'Bill', 'low'],
  ['nPczCjzI2devNBz1zQrb', 'Brian', 'low'],
  ['N2lVS1w4EtoT3dr4eOWO', 'Callum', 'low'],
  ['IKne3meq5aSn9XLyUdCD', 'Charlie', 'low'],
  ['iP95p4xoKVk53GoZ742B', 'Chris', 'low'],
  ['onwK4e9ZLuTAKqWW03F9', 'Daniel', 'low'],
  ['cjVigY5qzO86Huf0OWal', 'Eric', 'low'],
  ['JBFqnCBsd6RMkjVDRZzb', 'George', 'low'],
  ['SOYHLrjzK2X1ezoPC6cr', 'Harry', 'low'],
  ['cgSgspJ2msm6clMCkdW9', 'Jessica', 'high'],
  ['FGY2WhTYpPnrIDTdsKH5', 'Laura', 'high'],
  ['TX3LPaxmHKxFdv7VOQHJ', 'Liam', 'low'],
  ['pFZP5JQG7iQjIQuC4Bku', 'Lily', 'high'],
  ['XrExE9yKIg1WjnnlVkGX', 'Matilda', 'high'],
  ['SAz9YHcvj6GT2YYXdXww', 'River', 'middle'],
  ['CwhRBWXzGAHq8TQ4Fs17', 'Roger', 'low'],
  ['EXAVITQu4vr4xnSDxMaL', 'Sarah', 'high'],
  ['bIHbv24MWmeRgasZH58o', 'Will', 'low'],
];

/** How a voice sounds. */
export interface Timbre {
  readonly pitchHz: number;
  readonly tract: number;
}

const timbres: ReadonlyMap<string, Timbre> = new Map(
  VOICES.map(([id, , register]) => {
    const hash = hashText(id);
    const tract = (register === 'high' ? 1.12 : 0.94) + (hash % 13) / 100;
    return [id, { pitchHz: PITCH_HZ[register] + (hash % 40), tract }];
  }),
);

/** The timbre of a voice; 404 `voice_not_found` for an unknown id. */
export function timbreOf(voiceId: string): Timbre {
  const timbre = timbres.get(voiceId);
  if (timbre !== undefined) return timbre;
  throw new WireFault({
    status: 404,
    code: 'voice_not_found',
    message: `A voice with voice_id ${voiceId} was not found.`,
  });
}
