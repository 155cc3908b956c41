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
