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

/**
 * A sound effect of the given length. The prompt decides how it sounds. With `loop` its end continues in
 * its beginning.
 */
export function effectSound(prompt: string, seconds: number, loop: boolean): Waveform {
  const seed = hashText(prompt);
  const recipe = recipeOf(seed);
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
