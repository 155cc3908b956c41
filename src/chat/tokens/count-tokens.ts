import { countTokens as countPlain, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';

// The library drops the oldest of its remembered words by walking over all that were dropped before: once full, each new
// word costs milliseconds.
setMergeCacheSize(0);

/** Byte-pair merging is quadratic in the length of a run of one kind of character; longer runs are cut here. */
const LONG_RUN = /[\p{L}\p{M}]{256}|\p{N}{256}|\s{256}|[^\s\p{L}\p{M}\p{N}]{256}/gu;
/** What looks like a control token in a text is only text. */
const PLAIN = { disallowedSpecial: new Set<string>() };

/** Tokens of a text in the encoding `o200k_base`; runs longer than 256 characters may count a few more. */
export function countTokens(text: string): number {
  let count = 0;
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    count += countPlain(text.slice(from, index + run.length), PLAIN);
    from = index + run.length;
  }
  return count + countPlain(text.slice(from), PLAIN);
}
