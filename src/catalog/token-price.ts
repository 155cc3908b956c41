import type { TokenCounts } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { linesOf, type PriceLine } from '../common/money/price-lines.js';
import type { Factored } from './price-factor.js';

/** Prices of one million tokens of each kind. A kind without a price costs as its parent does: see {@link pricesFor}. */
export interface TokenLinePrices {
  readonly inputMicroUsdPerMillion: MicroUsd;
  readonly cachedInputMicroUsdPerMillion?: MicroUsd;
  readonly cacheWriteMicroUsdPerMillion?: MicroUsd;
  readonly cacheWrite1hMicroUsdPerMillion?: MicroUsd;
  readonly imageInputMicroUsdPerMillion?: MicroUsd;
  readonly outputMicroUsdPerMillion: MicroUsd;
}

/** The lines by their names in files and answers, in the order of a bill, with their names in a rule. */
export const TOKEN_LINES = {
  input: 'inputMicroUsdPerMillion',
  cached_input: 'cachedInputMicroUsdPerMillion',
  cache_write: 'cacheWriteMicroUsdPerMillion',
  cache_write_1h: 'cacheWrite1hMicroUsdPerMillion',
  image_input: 'imageInputMicroUsdPerMillion',
  output: 'outputMicroUsdPerMillion',
} as const satisfies Record<string, keyof TokenLinePrices>;
export type TokenLine = keyof typeof TOKEN_LINES;
/** The lines of a prompt. */
export const INPUT_LINES = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'image_input',
] as const satisfies readonly TokenLine[];

/** Prices of a whole call whose prompt has more tokens than this. A line that it lacks keeps its base price. */
export interface TokenTier extends Partial<TokenLinePrices> {
  readonly aboveInputTokens: number;
}

/** Prices of one million tokens. Only in this rule the price of one unit is not a whole number (decision G-23). */
export interface PerToken extends TokenLinePrices, Factored {
  readonly unit: 'token';
  /** By rising `aboveInputTokens`. */
  readonly tiers?: readonly TokenTier[];
}

/** A prompt and its answer at their dearest. */
interface DearestPrices {
  readonly inputMicroUsdPerMillion: MicroUsd;
  readonly outputMicroUsdPerMillion: MicroUsd;
}

/**
 * The price of every kind of tokens in a call with so many prompt tokens, cached and written ones included: that of the
 * highest tier below them, else the base price, else that of its parent (the input; of an hour's cache write the other
 * cache write).
 */
export function pricesFor(rule: PerToken, promptTokens: number): Required<TokenLinePrices> {
  const tier = rule.tiers?.findLast(({ aboveInputTokens }) => promptTokens > aboveInputTokens);
  return withParents({ ...rule, ...tier });
}

function withParents(prices: TokenLinePrices): Required<TokenLinePrices> {
  const { inputMicroUsdPerMillion: input, outputMicroUsdPerMillion } = prices;
  const write = prices.cacheWriteMicroUsdPerMillion ?? input;
  return {
    inputMicroUsdPerMillion: input,
    cachedInputMicroUsdPerMillion: prices.cachedInputMicroUsdPerMillion ?? input,
    cacheWriteMicroUsdPerMillion: write,
    cacheWrite1hMicroUsdPerMillion: prices.cacheWrite1hMicroUsdPerMillion ?? write,
    imageInputMicroUsdPerMillion: prices.imageInputMicroUsdPerMillion ?? input,
    outputMicroUsdPerMillion,
  };
}

/**
 * The dearest input line and the dearest output of all tiers that a prompt of at most so many tokens can reach. No call
 * within these bounds costs more than its tokens at these prices.
 */
export function dearestPrices(rule: PerToken, promptTokens: number): DearestPrices {
  const reached = (rule.tiers ?? []).filter(({ aboveInputTokens: above }) => promptTokens > above);
  const lists = [rule, ...reached.map((tier) => ({ ...rule, ...tier }))].map(withParents);
  const inputs = lists.flatMap((prices) => INPUT_LINES.map((line) => prices[TOKEN_LINES[line]]));
  return {
    inputMicroUsdPerMillion: most(inputs),
    outputMicroUsdPerMillion: most(lists.map((prices) => prices.outputMicroUsdPerMillion)),
  };
}

function most(amounts: readonly MicroUsd[]): MicroUsd {
  return amounts.reduce((highest, amount) => (amount > highest ? amount : highest), 0n);
}

/** The lines of the tokens of one call by a rule, each with its price in the tier of the prompt. */
export function tokenLinesOf(rule: PerToken, quantity: TokenCounts): readonly PriceLine[] {
  const prices = pricesFor(rule, quantity.promptTokens);
  const unitPrice = {
    inputPerMillion: prices.inputMicroUsdPerMillion.toString(),
    cachedInputPerMillion: prices.cachedInputMicroUsdPerMillion.toString(),
    cacheWritePerMillion: prices.cacheWriteMicroUsdPerMillion.toString(),
    cacheWrite1hPerMillion: prices.cacheWrite1hMicroUsdPerMillion.toString(),
    imageInputPerMillion: prices.imageInputMicroUsdPerMillion.toString(),
    outputPerMillion: prices.outputMicroUsdPerMillion.toString(),
  };
  return linesOf({ unit: 'token', quantity, unitPrice });
}
