import { GptEncoding } from 'gpt-tokenizer/GptEncoding';
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RawBytePairRanks } from 'gpt-tokenizer/BytePairEncodingCore';

const FILE = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken');

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * The tokens of `o200k_base` by their rank, as the library expects them: text, or bytes where they are no valid UTF-8
 * or begin with a byte order mark. Read from the library's data file, whose lines are a token in base64 and its rank.
 * The library's module with the same table takes 25 MB more of memory.
 */
export function readO200kRanks(): RawBytePairRanks {
  const ranks: (string | readonly number[])[] = [];
  for (const line of readFileSync(FILE, 'latin1').trimEnd().split('\n')) {
    const [token = '', rank] = line.split(' ');
    const bytes = Buffer.from(token, 'base64');
    const isText = isUtf8(bytes) && bytes.indexOf(BYTE_ORDER_MARK) !== 0;
    ranks[Number(rank)] = isText ? bytes.toString() : [...bytes];
  }
  return ranks;
}

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
