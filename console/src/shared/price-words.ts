import type { Shape } from './api.js';
import { count, exactUsd } from './money.js';

type Price = Shape<'PriceView'>;
type TokenPrices = Shape<'TokenTierView'> | Price;

/** A line of a price: what is counted, and what it costs in words. */
export type PriceWords = readonly [what: string, cost: string];

const CHARACTERS = 1_000;
const PERMILLE_PLACES = 3;
/** The prices of tokens, by their fields, in words. */
export const TOKEN_LINES = [
  ['input_per_million', 'Input'],
  ['cached_input_per_million', 'Cached input'],
  ['cache_write_per_million', 'Written to the cache for 5 minutes'],
  ['cache_write_1h_per_million', 'Written to the cache for an hour'],
  ['image_input_per_million', 'Input of images'],
  ['output_per_million', 'Output'],
] as const;

/** Whole micro-USD times a factor of a price book, as exact dollars. */
function paid(microUsd: string, factorPermille: number | undefined, times = 1): string {
  const digits = (BigInt(microUsd) * BigInt(times) * BigInt(factorPermille ?? 1_000)).toString();
  const padded = digits.padStart(PERMILLE_PLACES + 1, '0');
  return exactUsd(`${padded.slice(0, -PERMILLE_PLACES)}.${padded.slice(-PERMILLE_PLACES)}`);
}

function tokenLines(prices: TokenPrices, factor: number | undefined): PriceWords[] {
  return TOKEN_LINES.flatMap(([field, what]) => {
    const amount = prices[field];
    return amount === undefined ? [] : [[what, `${paid(amount, factor)} per million tokens`]];
  });
}

const unitWords = (unit: Price['unit']): string =>
  unit === 'code_point' ? `${count(CHARACTERS)} characters` : unit;

/** What each thing that is counted costs the account that reads it, its price book included. */
export function priceLines(price: Price): readonly PriceWords[] {
  const { unit, amount_microusd: amount, factor_permille: factor } = price;
  const times = unit === 'code_point' ? CHARACTERS : 1;
  const lines = tokenLines(price, factor);
  if (amount !== undefined) {
    lines.push([`Each ${unitWords(unit)}`.replace('Each 1', '1'), paid(amount, factor, times)]);
  }
  if (price.max_mode_amount_microusd !== undefined) {
    lines.push(['Each request in Max mode', paid(price.max_mode_amount_microusd, factor)]);
  }
  for (const { quality, size, amount_microusd: image } of price.by_quality_size ?? []) {
    lines.push([`An image of quality ${quality}, ${size}`, paid(image, factor)]);
  }
  for (const [seconds, total] of Object.entries(price.by_seconds ?? {})) {
    lines.push([`${seconds} seconds`, paid(total, factor)]);
  }
  for (const { above_input_tokens: above, ...tier } of price.tiers ?? []) {
    const prices = tokenLines(tier as TokenPrices, factor);
    lines.push(
      ...prices.map(
        ([what, cost]) => [`${what}, prompts above ${count(above)} tokens`, cost] as const,
      ),
    );
  }
  return lines;
}

/** The price in a few words, for a list. */
export function priceInShort(price: Price): string {
  const { unit, amount_microusd: amount, factor_permille: factor } = price;
  const { input_per_million: input, output_per_million: output } = price;
  if (input !== undefined) {
    const out = output === undefined ? '' : `, output ${paid(output, factor)}`;
    return `${output === undefined ? '' : 'input '}${paid(input, factor)}${out} per million tokens`;
  }
  const times = unit === 'code_point' ? CHARACTERS : 1;
  if (amount !== undefined) return `${paid(amount, factor, times)} per ${unitWords(unit)}`;
  const lengths = Object.entries(price.by_seconds ?? {});
  return lengths.map(([seconds, total]) => `${seconds} s ${paid(total, factor)}`).join(', ');
}
