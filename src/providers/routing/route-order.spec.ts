import { describe, expect, it } from '@jest/globals';
import { orderedRoutes, placeOf } from './route-order.js';

const route = (provider: string, weight?: number) => ({
  provider,
  upstreamModel: 'm',
  ...(weight !== undefined && { weight }),
});
const firstOf = (routes: readonly { provider: string }[]) => routes[0]?.provider;
const affinities = Array.from({ length: 4_000 }, (_, index) => `account key-${index}`);

describe('the order of routes', () => {
  it('is their own where none has a weight', () => {
    const routes = [route('a'), route('b')];
    expect(orderedRoutes(routes)).toBe(routes);
    expect(orderedRoutes(routes, 'account key')).toBe(routes);
  });

  it.each([
    ['calls without affinity', undefined],
    ['affinities', affinities],
  ])('begins with each route by its weight, over many %s', (_what, named) => {
    const routes = [route('a', 3), route('b', 1), route('c')];
    const firsts = affinities.map((name) => firstOf(orderedRoutes(routes, named && name)));
    const share = firsts.filter((first) => first === 'a').length / firsts.length;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.8);
    expect(firsts).not.toContain('c');
  });

  it('has routes without a weight at its end, in their own order', () => {
    const routes = [route('a'), route('b', 1), route('c'), route('d', 1)];
    const providers = orderedRoutes(routes).map(({ provider }) => provider);
    expect(providers.slice(2)).toEqual(['a', 'c']);
  });

  it('is the same for one affinity, also when another route goes', () => {
    const routes = [route('a', 1), route('b', 1), route('c', 1)];
    for (const affinity of affinities.slice(0, 200)) {
      const order = orderedRoutes(routes, affinity);
      expect(orderedRoutes(routes, affinity)).toEqual(order);
      const [, , last] = order;
      const fewer = routes.filter((each) => each !== last);
      expect(orderedRoutes(fewer, affinity)).toEqual(order.slice(0, 2));
    }
  });
});

describe('the place of an affinity', () => {
  it('is always the same, within the count, and any of them', () => {
    const places = affinities.map((name) => placeOf(3, name));
    expect(affinities.map((name) => placeOf(3, name))).toEqual(places);
    expect(new Set(places)).toEqual(new Set([0, 1, 2]));
    expect([0, 1, 2]).toContain(placeOf(3));
  });
});
