import { describe, expect, it } from '@jest/globals';
import { codePointCount, textFault } from './text-rule.js';

const speech = { max: 10, controls: 'speech' } as const;

describe('textFault', () => {
  it.each(['\0', '\u0007', '\t', '\u001b', '\u007f', '\u0085'])(
    'refuses the control character %j in speech (SPEECH-34, G-33)',
    (control) => {
      expect(textFault(`a${control}b`, speech)).toMatch(/control characters/);
    },
  );

  it.each(['\n', '\r\n', '\u2028', '\u200d', '\ufe0f'])(
    'accepts %j in speech (SPEECH-35, G-33)',
    (text) => {
      expect(textFault(`a${text}`, speech)).toBeUndefined();
    },
  );

  it.each(['   ', '\n\n', '\u00a0', '\u3000', '\u0085', ''])(
    'reads %j as blank (SPEECH-33, G-33)',
    (text) => {
      expect(textFault(text, { max: 10 })).toBe('must not be blank');
      expect(textFault(text, { max: 10, blank: 'allowed' })).toBeUndefined();
    },
  );

  it('refuses only U+0000 of the control characters elsewhere', () => {
    expect(textFault('a\tb\u0085', { max: 10 })).toBeUndefined();
    expect(textFault('a\0b', { max: 10 })).toBe('must not contain U+0000');
  });

  it.each(['\ud800', '\udc00a', 'a\ud83d'])(
    'refuses the unpaired surrogate in %j (SPEECH-36, G-33)',
    (text) => {
      expect(textFault(text, { max: 10 })).toBe('must be well-formed Unicode');
    },
  );

  it('measures code points, not UTF-16 units', () => {
    expect(textFault('😀'.repeat(10), speech)).toBeUndefined();
    expect(textFault('😀'.repeat(11), speech)).toBe('must have at most 10 characters');
    expect(textFault('😀', { min: 2, max: 3 })).toBe('must have at least 2 characters');
    expect(textFault('ab', { min: 2, max: 3 })).toBeUndefined();
  });
});

describe('codePointCount', () => {
  it.each(['', 'abc', '😀a😀', '\ud800\ud800\udc00', '\udc00\ud800'])(
    'counts %j like Array.from does',
    (text) => {
      expect(codePointCount(text)).toBe(Array.from(text).length);
    },
  );
});
