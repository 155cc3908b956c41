import { describe, expect, it } from '@jest/globals';
import { didYouMean, nearestName } from './nearest-name.js';

const NAMES = ['gen-5', 'gen-5-mini', 'tts-1', 'account:credit'];

describe('nearestName', () => {
  it.each([
    ['gen5', 'gen-5'],
    ['gen-5-mni', 'gen-5-mini'],
    ['mini-gen-5', 'gen-5-mini'],
    ['credit:account', 'account:credit'],
    ['tts-1', 'tts-1'],
  ])('finds for %s the name %s', (typed, name) => {
    expect(nearestName(typed, NAMES)).toBe(name);
  });

  it.each(['', 'x', 'claude', 'gen-5-mini-with-more'])('finds none for "%s"', (typed) => {
    expect(nearestName(typed, NAMES)).toBeUndefined();
  });

  it('finds none for a name of five million characters', () => {
    expect(nearestName('gen-5'.repeat(1_000_000), NAMES)).toBeUndefined();
  });

  it('looks at no name that is longer or shorter than a near one', () => {
    expect(nearestName('gen-5', ['gen-5'.repeat(1_000_000)])).toBeUndefined();
  });

  it('is asked about after the prefix of the caller', () => {
    expect(didYouMean('gen5', NAMES, '--')).toBe(' Did you mean --gen-5?');
    expect(didYouMean('x', NAMES, '--')).toBe('');
  });
});
