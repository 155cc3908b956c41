import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { cellOf, hashKey, looksLikeKey, makeKey, prefixOf } from './api-key-format.js';

const SAMPLE = 2_000;

describe('a key', () => {
  const keys = Array.from({ length: SAMPLE }, () => makeKey());

  it('is sk- and 43 characters of base 62, never the same twice', () => {
    for (const key of keys) expect(key).toMatch(/^sk-[0-9A-Za-z]{43}$/);
    expect(new Set(keys).size).toBe(SAMPLE);
    expect(keys.every(looksLikeKey)).toBe(true);
  });

  it('uses every character about as often as any other', () => {
    const counts = new Map<string, number>();
    for (const character of keys.join('').replaceAll('sk-', '')) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (SAMPLE * 43) / 62;
    expect(counts.size).toBe(62);
    // Nine standard deviations. Chance never reaches it; a modulo bias does.
    for (const count of counts.values()) {
      expect(Math.abs(count - expected)).toBeLessThan(9 * Math.sqrt(expected));
    }
  });

  it('is stored as its SHA-256 and shown as its first nine characters', () => {
    const key = keys[0] ?? '';
    expect(hashKey(key)).toEqual(createHash('sha256').update(key).digest());
    expect(prefixOf(key)).toBe(key.slice(0, 9));
  });

  it('names its cell, shows it, and is found by it (G-113)', () => {
    const key = makeKey('07');
    expect(key).toMatch(/^sk-c07-[0-9A-Za-z]{43}$/);
    expect(looksLikeKey(key)).toBe(true);
    expect([cellOf(key), prefixOf(key)]).toEqual(['07', key.slice(0, 13)]);
    expect(keys.map(cellOf).every((cell) => cell === undefined)).toBe(true);
  });

  it.each([
    '',
    'sk-',
    `sk-${'a'.repeat(42)}`,
    `sk-${'a'.repeat(44)}`,
    `SK-${'a'.repeat(43)}`,
    `sk-c-${'a'.repeat(43)}`,
    `sk-c123456789-${'a'.repeat(43)}`,
    `sk-cA1-${'a'.repeat(43)}`,
    `sk-07-${'a'.repeat(43)}`,
    `sk-${'a'.repeat(42)}_`,
    `sk-${'a'.repeat(42)}é`,
    ` sk-${'a'.repeat(43)}`,
    `sk-${'a'.repeat(43)}\n`,
    `sk-${'a'.repeat(1_000_000)}`,
  ])('is not what a text has to look like %#', (text) => {
    expect(looksLikeKey(text)).toBe(false);
  });
});
