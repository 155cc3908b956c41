import { GptEncoding } from 'gpt-tokenizer/GptEncoding';
import { readO200kRanks } from './o200k-ranks.js';

const encoding = GptEncoding.getEncodingApi('o200k_base', readO200kRanks);
// The library keeps a cache of words. When the cache is full, each new word takes milliseconds, because the library
// iterates over all entries that it has deleted before.
encoding.setMergeCacheSize(0);

/**
 * Byte-pair merging takes quadratic time in the length of a run of one kind of character, so longer runs are cut here.
 */
const LONG_RUN = /[\p{L}\p{M}]{256}|\p{N}{256}|\s{256}|[^\s\p{L}\p{M}\p{N}]{256}/gu;
/** Text that looks like a control token counts as plain text. */
const PLAIN = { disallowedSpecial: new Set<string>() };

/** Tokens of a text in the encoding `o200k_base`. Runs of more than 256 characters may count a few more. */
export function countTokens(text: string): number {
  let count = 0;
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    count += encoding.countTokens(text.slice(from, index + run.length), PLAIN);
    from = index + run.length;
  }
  return count + encoding.countTokens(text.slice(from), PLAIN);
}
