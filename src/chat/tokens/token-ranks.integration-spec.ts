import { describe, expect, it } from '@jest/globals';
import libraryRanks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { readTokenRanks } from './token-ranks.js';

describe('readTokenRanks', () => {
  it('answers the table of the library, token by token', () => {
    expect(readTokenRanks()).toEqual(libraryRanks);
  });
});
