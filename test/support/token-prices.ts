import fc from 'fast-check';
import type { BookedModel } from '../../src/catalog/price-books/price-book.js';
import type { PerToken } from '../../src/catalog/token-price.js';

/** A price as plain numbers: the oracle computes with them, and with nothing of the code under test. */
export interface Plain {
  readonly input: number;
  readonly output: number;
  readonly cached?: number | undefined;
  readonly write?: number | undefined;
  readonly write1h?: number | undefined;
  readonly image?: number | undefined;
}
export interface PlainTier extends Named {
  readonly above: number;
}

type Named = { readonly [K in keyof Plain]?: Plain[K] | undefined };

const amount = fc.nat(20_000_000);
const maybe = fc.option(amount, { nil: undefined });
const parts = { cached: maybe, write: maybe, write1h: maybe, image: maybe };
export const plainPrice = fc.record({
  input: amount,
  output: fc.integer({ min: 1, max: 1e8 }),
  ...parts,
});
const plainTier = fc.record({
  above: fc.integer({ min: 1, max: 3_000 }),
  input: maybe,
  output: fc.option(fc.integer({ min: 1, max: 1e8 }), { nil: undefined }),
  ...parts,
});
export const plainTiers = fc.uniqueArray(plainTier, {
  maxLength: 3,
  selector: ({ above }) => above,
});

export const namedLines = (prices: Named): Partial<PerToken> =>
  Object.fromEntries(
    Object.entries({
      inputMicroUsdPerMillion: prices.input,
      cachedInputMicroUsdPerMillion: prices.cached,
      cacheWriteMicroUsdPerMillion: prices.write,
      cacheWrite1hMicroUsdPerMillion: prices.write1h,
      imageInputMicroUsdPerMillion: prices.image,
      outputMicroUsdPerMillion: prices.output,
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, BigInt(value)]])),
  );

/** The price as a file of the catalog and a price book have it. */
export function priceInFile(price: Plain, tiers: readonly PlainTier[]): BookedModel['price'] {
  const linesOf = (prices: Named) => ({
    input_micro_usd_per_million: prices.input,
    cached_input_micro_usd_per_million: prices.cached,
    cache_write_micro_usd_per_million: prices.write,
    cache_write_1h_micro_usd_per_million: prices.write1h,
    image_input_micro_usd_per_million: prices.image,
    output_micro_usd_per_million: prices.output,
  });
  const rows = tiers
    .toSorted((a, b) => a.above - b.above)
    .map(({ above, ...lines }) => ({ above_input_tokens: above, ...linesOf(lines) }));
  // What is undefined is not in a file.
  return JSON.parse(
    JSON.stringify({ unit: 'token', ...linesOf(price), ...(rows.length > 0 && { tiers: rows }) }),
  ) as BookedModel['price'];
}

export const ruleOf = (price: Plain, tiers: readonly PlainTier[]): PerToken => ({
  unit: 'token',
  inputMicroUsdPerMillion: 0n,
  outputMicroUsdPerMillion: 0n,
  ...namedLines(price),
  tiers: tiers
    .toSorted((a, b) => a.above - b.above)
    .map(({ above, ...lines }) => ({ aboveInputTokens: above, ...namedLines(lines) })),
});

/** The lines of the highest tier that so many prompt tokens exceed, one by one. */
export function oracleOf(price: Plain, tiers: readonly PlainTier[], prompt: number) {
  const reached = tiers.filter(({ above }) => prompt > above);
  const highest = Math.max(...reached.map(({ above }) => above));
  const tier = reached.find(({ above }) => above === highest) ?? {};
  const named = Object.entries(tier).filter(([, value]) => value !== undefined);
  const lines: Plain = { ...price, ...(Object.fromEntries(named) as Partial<Plain>) };
  const { input, cached, write, write1h, image, output } = lines;
  return {
    input,
    cached: cached ?? input,
    write: write ?? input,
    write1h: write1h ?? write ?? input,
    image: image ?? input,
    output,
  };
}
