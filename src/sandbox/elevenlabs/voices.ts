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

const pitches: ReadonlyMap<string, number> = new Map(
  VOICES.map(([id, , register]) => [id, PITCH_HZ[register] + (hashText(id) % 40)]),
);

/** The pitch of a voice in Hz; 404 `voice_not_found` for an unknown id. */
export function pitchOf(voiceId: string): number {
  const pitchHz = pitches.get(voiceId);
  if (pitchHz !== undefined) return pitchHz;
  throw new WireFault({
    status: 404,
    code: 'voice_not_found',
    message: `A voice with voice_id ${voiceId} was not found.`,
  });
}
