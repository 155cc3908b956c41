import { describe, expect, it } from '@jest/globals';
import libraryRanks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { readO200kRanks } from './count-tokens.js';

describe('readO200kRanks', () => {
  it('returns the same table as the library, token by token', () => {
    expect(readO200kRanks()).toEqual(libraryRanks);
  });
});
