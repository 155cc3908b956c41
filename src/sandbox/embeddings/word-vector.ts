import { tokensOf } from '../chat/chat-reply.js';
import { Magic } from '../magic-inputs.js';
import { hashText } from '../media/seeded-random.js';

/** How many numbers a vector has unless a request says so, and the most that it may have. */
export const DIMENSIONS = 1_536;
/** Places that one word changes. */
const PLACES_PER_WORD = 4;

/** The words of a text without its magic inputs; one of white space if it has none. */
export function wordsOfText(text: string): string[] {
  return tokensOf(Magic.strip(text) || ' ');
}

/** A vector of length 1, in which each word has changed a few places: texts with the same words have near vectors. */
export function wordVector(words: readonly string[], dimensions: number): Float32Array {
  const sums = new Float32Array(dimensions);
  for (const word of words) {
    for (let place = 0; place < PLACES_PER_WORD; place++) {
      const hash = hashText(`${place} ${word.trim().toLowerCase()}`);
      const index = hash % dimensions;
      sums[index] = (sums[index] ?? 0) + (hash & 0x10000 ? 1 : -1);
    }
  }
  // Words may have cancelled each other.
  if (sums.every((sum) => sum === 0)) sums[0] = 1;
  const length = Math.hypot(...sums);
  return sums.map((sum) => sum / length);
}
