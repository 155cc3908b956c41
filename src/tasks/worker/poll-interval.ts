/** The poll interval grows to at most this many times the first interval. */
export const MAX_GROWTH = 6;
/** The poll interval grows by one first interval for each time the task ages by this many first intervals. */
const GROWTH_AGE = 20;
/** An interval is up to a fifth shorter or longer, so that tasks submitted together are not polled together. */
const JITTER = 0.2;

/**
 * Milliseconds until a task of this age is polled again: the first interval, which grows with age up to six times, with
 * jitter. `random` is in [0, 1).
 */
export function pollDelayMs(ageMs: number, firstMs: number, random: number): number {
  const growth = Math.min(MAX_GROWTH, 1 + Math.max(0, ageMs) / (GROWTH_AGE * firstMs));
  return Math.round(firstMs * growth * (1 - JITTER + 2 * JITTER * random));
}
