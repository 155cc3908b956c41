/** The wait between polls grows to at most this many first intervals. */
export const MAX_GROWTH = 6;
/** When a task is as old as this many first intervals, the wait has doubled, and so on. */
const GROWTH_AGE = 20;
/** A wait is up to a fifth shorter or longer, so that tasks which were submitted together are not polled together. */
const JITTER = 0.2;

/**
 * Milliseconds until a task of this age is polled again: the first interval, which grows with age up to six times, with
 * jitter. `random` is in [0, 1).
 */
export function pollDelayMs(ageMs: number, firstMs: number, random: number): number {
  const growth = Math.min(MAX_GROWTH, 1 + Math.max(0, ageMs) / (GROWTH_AGE * firstMs));
  return Math.round(firstMs * growth * (1 - JITTER + 2 * JITTER * random));
}
