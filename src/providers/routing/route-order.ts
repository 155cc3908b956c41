import { createHash } from 'node:crypto';
import type { Route } from '../ports/attempt.js';

/** Uniform numbers are fractions of this. */
const SPAN = 2 ** 32;

/**
 * The routes in the order in which one call tries them. Without weights it is their own. With weights a call begins at a
 * route with the share of its weight; routes without a weight come last, in their own order. Calls with the same affinity
 * get the same order, and keep it when other routes come or go.
 */
export function orderedRoutes(routes: readonly Route[], affinity?: string): readonly Route[] {
  if (routes.length < 2 || routes.every(({ weight }) => weight === undefined)) return routes;
  const scored = routes.map((route) => ({ route, score: scoreOf(route, affinity) }));
  return scored.sort((a, b) => b.score - a.score).map(({ route }) => route);
}

/** Which of so many equal things calls with this affinity take, or any where they have none. */
export function placeOf(count: number, affinity?: string): number {
  return Math.floor(fractionOf('', affinity) * count);
}

/** Weighted rendezvous: the highest score of several routes is each route's with the probability of its weight. */
function scoreOf({ weight, provider, upstreamModel }: Route, affinity?: string): number {
  if (weight === undefined) return -Infinity;
  return -weight / Math.log(fractionOf(`${provider} ${upstreamModel}`, affinity));
}

/** Between 0 and 1, both excluded. */
function fractionOf(salt: string, affinity?: string): number {
  if (affinity === undefined) return (Math.floor(Math.random() * SPAN) + 0.5) / SPAN;
  const digest = createHash('sha256').update(`${salt}\n${affinity}`).digest();
  return (digest.readUInt32BE() + 0.5) / SPAN;
}
