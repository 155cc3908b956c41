import { hashText, seededRandom } from '../seeded-random.js';
import type { Waveform } from './sound.js';

/** Looked up once, because they are called for every sample. */
const { PI, cos, exp, floor, min, round, sin } = Math;

/** What an effect consists of: amounts of noise and tone, a tone that slides, a swell and a decay. */
interface Recipe {
  readonly noise: number;
  readonly tone: number;
  readonly fromHz: number;
  readonly toHz: number;
  /** How often the sound swells in its whole length; 0 for a steady sound. */
  readonly swells: number;
  /** How fast the sound decays; 0 for a steady sound. */
  readonly decay: number;
  /** 0 to 1: how much of the high frequencies is taken out of the noise. */
  readonly darkness: number;
}

const RECIPES: readonly (readonly [words: RegExp, recipe: Recipe])[] = [
  [
    /rain|wind|sea|wave|ocean|river|storm|crowd/i,
    { noise: 0.6, tone: 0, fromHz: 1, toHz: 1, swells: 3, decay: 0, darkness: 0.8 },
  ],
  [
    /explo|thunder|boom|gun|crash|slam|hit|impact/i,
    { noise: 0.9, tone: 0.3, fromHz: 90, toHz: 35, swells: 0, decay: 3, darkness: 0.9 },
  ],
  [
    /beep|alarm|siren|phone|bell|chime/i,
    { noise: 0, tone: 0.6, fromHz: 880, toHz: 880, swells: 8, decay: 0, darkness: 0 },
  ],
];

/**
 * A sound effect of the given length. The words of the prompt decide how it sounds. With `loop` its end continues in
 * its beginning.
 */
export function effectSound(prompt: string, seconds: number, loop: boolean): Waveform {
  const seed = hashText(prompt);
  const recipe = RECIPES.find(([words]) => words.test(prompt))?.[1] ?? recipeOf(seed);
  return {
    seconds,
    open(sampleRate) {
      const random = seededRandom(seed);
      const total = round(seconds * sampleRate);
      let position = 0;
      let phase = 0;
      let noise = 0;
      return (block) => {
        for (let i = 0; i < block.length; i++) {
          const progress = position / total;
          phase += (recipe.fromHz + (recipe.toHz - recipe.fromHz) * progress) / sampleRate;
          noise += (random() * 2 - 1 - noise) * (1 - 0.95 * recipe.darkness);
          const body = recipe.noise * noise + recipe.tone * sin(2 * PI * phase);
          block[i] =
            body * swell(recipe, progress) * (loop ? 1 : edge(position, total, sampleRate));
          position++;
        }
      };
    },
  };
}

function recipeOf(seed: number): Recipe {
  const random = seededRandom(seed);
  return {
    noise: 0.2 + 0.4 * random(),
    tone: 0.2 + 0.3 * random(),
    fromHz: 80 + 900 * random(),
    toHz: 80 + 1800 * random(),
    swells: floor(random() * 6),
    decay: floor(random() * 3),
    darkness: random(),
  };
}

function swell(recipe: Recipe, progress: number): number {
  // A whole number of swells, so that a loop continues without a jump.
  const wave = recipe.swells === 0 ? 1 : 0.6 - 0.4 * cos(2 * PI * recipe.swells * progress);
  return wave * exp(-recipe.decay * progress);
}

/** Fades the first and last 20 ms in and out, so that the sound does not click. */
function edge(position: number, total: number, sampleRate: number): number {
  const fade = 0.02 * sampleRate;
  return min(1, position / fade, (total - position) / fade);
}
