import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from './json-object.js';

describe('canonicalJson', () => {
  it('ignores the order of keys, spacing and the spelling of numbers and letters', () => {
    const a: unknown = JSON.parse('{"a": 1.0, "b": {"d": "\\u0041", "c": [1e0, null]}}');
    const b: unknown = JSON.parse('{"b":{"c":[1,null],"d":"A"},"a":1}');
    expect(canonicalJson(a)).toBe(canonicalJson(b));
  });

  it('gives different texts for different values', () => {
    const texts = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: null }, {}, { b: 1 }, [{ a: 1 }]];
    expect(new Set(texts.map(canonicalJson)).size).toBe(texts.length);
  });

  it('keeps the order of arrays and leaves undefined out', () => {
    expect(canonicalJson([2, 1])).toBe('[2,1]');
    expect(canonicalJson({ b: undefined, a: 'x' })).toBe('{"a":"x"}');
  });
});
