import { describe, expect, it } from '@jest/globals';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from './entries-limit.js';

describe('entriesLimit', () => {
  it('keeps the entries that were used last, and tells of each that it drops', () => {
    const dropped: string[] = [];
    const cache = new LRUCache<string, number>({
      ...entriesLimit(3),
      dispose: (_value, key) => dropped.push(key),
    });
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.get('a');
    cache.set('d', 2);
    cache.set('d', 3);
    cache.set('e', 4);

    expect([...cache.keys()]).toEqual(['e', 'd', 'a']);
    expect(dropped).toEqual(['b', 'd', 'c']);
  });

  it('forgets entries whose time is over', () => {
    let now = 1_000;
    const cache = new LRUCache<string, number>({
      ...entriesLimit(3),
      ttl: 100,
      ttlResolution: 0,
      perf: { now: () => now },
    });
    cache.set('a', 1);
    now += 101;

    expect(cache.get('a')).toBeUndefined();
    expect(cache.size).toBe(0);
  });
});
