import { hashText, seededRandom } from './seeded-random.js';
import type { Sound } from './sound.js';

/** Chords as steps of the scale, one per bar. */
const PROGRESSIONS = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [5, 3, 0, 4],
  [0, 3, 1, 4],
];
const MAJOR = [0, 2, 4, 5, 7, 9, 11];
const MINOR = [0, 2, 3, 5, 7, 8, 10];
const BEATS_PER_BAR = 4;
const STEPS_PER_BEAT = 2;
const MELODY_STEPS = 32;

/** A small composed piece, decided by its prompt: chords, bass, melody and drums, with `vocals` sung above when given. */
export function musicSound(prompt: string, seconds: number, vocals?: Sound): Sound {
  const score = compose(prompt);
  return {
    seconds,
    open(sampleRate) {
      const sing = vocals?.open(sampleRate);
      const play = openBand(score, sampleRate);
      const total = Math.round(seconds * sampleRate);
      const fade = Math.min(total, 0.5 * sampleRate);
      let voice = new Float32Array(0);
      let position = 0;
      return (block) => {
        if (voice.length < block.length) voice = new Float32Array(block.length);
        const sung = voice.subarray(0, block.length);
        sing?.(sung);
        for (let i = 0; i < block.length; i++) {
          const ending = Math.min(1, (total - position) / fade);
          block[i] = (0.7 * play(position) + 0.4 * (sung[i] ?? 0)) * ending;
          position++;
        }
      };
    },
  };
}

interface Score {
  readonly stepSeconds: number;
  readonly chords: readonly (readonly number[])[];
  /** Frequencies in Hz, 0 for a rest. */
  readonly melody: readonly number[];
  readonly seed: number;
}

function compose(prompt: string): Score {
  const seed = hashText(prompt);
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const scale = /sad|dark|minor|melanchol|slow/i.test(prompt) ? MINOR : pick([MAJOR, MINOR, MAJOR]);
  const beatsPerMinute = 80 + Math.floor(random() * 60);
  const key = 45 + Math.floor(random() * 12);
  const hertz = (degree: number, octave: number): number => {
    const step = scale[degree % scale.length] ?? 0;
    const semitones = key + step + 12 * (octave + Math.floor(degree / scale.length));
    return 440 * 2 ** ((semitones - 69) / 12);
  };
  const progression = pick(PROGRESSIONS);
  return {
    stepSeconds: 60 / beatsPerMinute / STEPS_PER_BEAT,
    chords: progression.map((root) => [root, root + 2, root + 4].map((degree) => hertz(degree, 1))),
    melody: Array.from({ length: MELODY_STEPS }, (_, step) => {
      const root = progression[Math.floor(step / 8) % progression.length] ?? 0;
      return random() < 0.35 ? 0 : hertz(root + pick([0, 2, 4, 6, 7]), 2);
    }),
    seed,
  };
}

/** The whole band, sample by sample. */
function openBand(score: Score, sampleRate: number): (position: number) => number {
  const random = seededRandom(score.seed);
  const stepSamples = Math.max(1, Math.round(score.stepSeconds * sampleRate));
  return (position) => {
    const step = Math.floor(position / stepSamples);
    const inStep = (position % stepSamples) / sampleRate;
    const at = position / sampleRate;
    const bar = Math.floor(step / (BEATS_PER_BAR * STEPS_PER_BEAT));
    const [root = 0, third = 0, fifth = 0] = score.chords[bar % score.chords.length] ?? [];
    const pad = triangle(at * root) + triangle(at * third) + triangle(at * fifth);
    const bass = triangle((at * root) / 2);
    const note = score.melody[step % score.melody.length] ?? 0;
    const lead = note === 0 ? 0 : triangle(at * note) * Math.exp(-4 * inStep);
    return 0.14 * pad + 0.25 * bass + 0.3 * lead + drum(step, inStep, random);
  };
}

function drum(step: number, inStep: number, random: () => number): number {
  const hiss = random() * 2 - 1;
  const hat = 0.08 * hiss * Math.exp(-60 * inStep);
  if (step % 4 === 0) {
    const kick = Math.sin(2 * Math.PI * (50 * inStep + 1.5 * (1 - Math.exp(-30 * inStep))));
    return hat + 0.5 * kick * Math.exp(-12 * inStep);
  }
  return step % 4 === 2 ? hat + 0.25 * hiss * Math.exp(-18 * inStep) : hat;
}

/** Triangle wave, -1 to 1, over whole cycles. */
function triangle(cycles: number): number {
  return 4 * Math.abs(cycles - Math.floor(cycles + 0.5)) - 1;
}
