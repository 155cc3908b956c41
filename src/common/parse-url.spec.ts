import { describe, expect, it } from '@jest/globals';
import { parseUrl } from './parse-url.js';

/** More calls than V8 needs before it compiles one. */
const CALLS = 20_000;

describe('parseUrl', () => {
  it('parses the same text however often it is asked', () => {
    const text = 'http://bücher.example/';
    for (let call = 0; call < CALLS; call++) {
      if (parseUrl(text)?.hostname !== 'xn--bcher-kva.example') throw new Error(`call ${call}`);
    }
  });

  it.each(['', 'nothing', 'http://', 'http://a b/'])('returns undefined for %j', (text) => {
    expect(parseUrl(text)).toBeUndefined();
  });

  it('resolves a path against a base', () => {
    expect(parseUrl('../b', 'https://a.example/x/y/')?.href).toBe('https://a.example/x/b');
  });
});
