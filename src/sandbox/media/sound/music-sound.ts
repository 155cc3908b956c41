import { BAND, composed, type Instrument, type Score, STEPS_PER_BAR } from './music-score.js';
import { seededRandom } from '../seeded-random.js';
import type { Waveform } from './sound.js';

/** Looked up once, because they are called for every sample. */
const { PI, abs, exp, floor, max, min, round, sin } = Math;

const FADE_SECONDS = 0.5;
const BAND_GAIN = 0.7;
const VOICE_GAIN = 0.4;

/** All parts of a piece. Their sounds add up to the piece. */
export const PARTS = ['vocals', ...BAND] as const;
/** One part of a piece. */
export type Part = (typeof PARTS)[number];

/** How a piece is played. */
export interface Performance {
  /** The sound of the singing. */
  readonly vocals?: Waveform;
  /** The parts that are heard; all of them when absent. */
  readonly parts?: ReadonlySet<Part>;
  /** 2 is twice as fast. */
  readonly tempo?: number;
}

/** A small piece that is composed from its prompt: chords, bass, melody and drums. `vocals` is added when given. */
export function musicSound(
  prompt: string,
  seconds: number,
  { vocals, parts = new Set(PARTS), tempo = 1 }: Performance = {},
): Waveform {
  const score = composed(prompt, tempo);
  return {
    seconds,
    open(sampleRate) {
      const sing = parts.has('vocals') ? vocals?.open(sampleRate) : undefined;
      const play = openBand(score, sampleRate, parts);
      const total = round(seconds * sampleRate);
      const fade = min(total, FADE_SECONDS * sampleRate);
      let voice = new Float32Array(0);
      let position = 0;
      return (block) => {
        if (voice.length < block.length) voice = new Float32Array(block.length);
        const sung = voice.subarray(0, block.length);
        sing?.(sung);
        for (let i = 0; i < block.length; i++) {
          const ending = max(0, min(1, (total - position) / fade));
          block[i] = (BAND_GAIN * play(position) + VOICE_GAIN * (sung[i] ?? 0)) * ending;
          position++;
        }
      };
    },
  };
}

type Player = (step: number, inStep: number, at: number) => number;

/** Renders the instruments among `parts`, sample by sample. */
function openBand(
  score: Score,
  sampleRate: number,
  parts: ReadonlySet<Part>,
): (position: number) => number {
  const stepSamples = max(1, round(score.stepSeconds * sampleRate));
  const players = BAND.filter((instrument) => parts.has(instrument)).map((instrument) =>
    playerOf(instrument, score),
  );
  return (position) => {
    const step = floor(position / stepSamples);
    const inStep = (position % stepSamples) / sampleRate;
    let sum = 0;
    for (const play of players) sum += play(step, inStep, position / sampleRate);
    return sum;
  };
}

function playerOf(instrument: Instrument, score: Score): Player {
  const chords = score.chords.map((chord) => chord.map(hertzOf));
  const melody = score.melody.map((pitch) => (pitch === 0 ? 0 : hertzOf(pitch)));
  const chordAt = (step: number): readonly number[] =>
    chords[floor(step / STEPS_PER_BAR) % chords.length] ?? [];
  switch (instrument) {
    case 'drums': {
      const random = seededRandom(score.seed);
      return (step, inStep) => drum(step, inStep, random);
    }
    case 'bass':
      return (step, _, at) => 0.25 * triangle((at * (chordAt(step)[0] ?? 0)) / 2);
    case 'lead':
      return (step, inStep, at) => {
        const note = melody[step % melody.length] ?? 0;
        return note === 0 ? 0 : 0.3 * triangle(at * note) * exp(-4 * inStep);
      };
    case 'pad':
      return (step, _, at) => {
        const [root = 0, third = 0, fifth = 0] = chordAt(step);
        return 0.14 * (triangle(at * root) + triangle(at * third) + triangle(at * fifth));
      };
  }
}

function hertzOf(pitch: number): number {
  return 440 * 2 ** ((pitch - 69) / 12);
}

function drum(step: number, inStep: number, random: () => number): number {
  const hiss = random() * 2 - 1;
  const hat = 0.08 * hiss * exp(-60 * inStep);
  if (step % 4 === 0) {
    const kick = sin(2 * PI * (50 * inStep + 1.5 * (1 - exp(-30 * inStep))));
    return hat + 0.5 * kick * exp(-12 * inStep);
  }
  return step % 4 === 2 ? hat + 0.25 * hiss * exp(-18 * inStep) : hat;
}

/** A triangle wave from -1 to 1; its period is 1. */
function triangle(cycles: number): number {
  return 4 * abs(cycles - floor(cycles + 0.5)) - 1;
}
