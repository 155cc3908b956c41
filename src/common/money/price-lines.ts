import type { ChargeBasis, TokenCounts, TokenPrices } from './charge-basis.js';
import { ceilDiv, type MicroUsd } from './micro-usd.js';

/** How many tokens one price of tokens is for. */
export const TOKENS_PER_PRICE = 1_000_000n;
/** The factor of a price book that changes nothing, in thousandths. */
export const WHOLE_PERMILLE = 1_000n;
/** The most images that have a line each; a call makes fewer. */
const MOST_IMAGE_LINES = 100;
/** Decimals of an amount per million. */
const DECIMALS_PER_MILLION = 6;

/** What a line counts: a kind of tokens, or the unit of any other price. */
export const LINE_UNITS = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'image_input',
  'output',
  'code_point',
  'second',
  'image',
  'request',
] as const;
export type LineUnit = (typeof LINE_UNITS)[number];

/** One line of a bill: so many units at a price for `per` of them. */
export interface PriceLine {
  readonly unit: LineUnit;
  readonly quantity: number;
  readonly unitPriceMicroUsd: MicroUsd;
  /** How many units the price is for: a million tokens, else one unit. */
  readonly per: 1 | 1_000_000;
}

/** The part of a charge's basis from which its lines follow. */
export type BilledUnits = Pick<ChargeBasis, 'unit' | 'quantity' | 'unitPrice'>;

/**
 * The lines of a charge. Each image has its own. Each kind of tokens has its own, and the kinds of the prompt exclude each other; a kind without
 * tokens has none, except that a charge of no tokens at all is a line of zero input.
 */
export function linesOf({ unit, quantity, unitPrice }: BilledUnits): readonly PriceLine[] {
  if (typeof quantity === 'object' && typeof unitPrice === 'object') {
    return linesOfTokens(quantity, unitPrice);
  }
  if (unit === 'token' || typeof quantity !== 'number' || typeof unitPrice !== 'string') return [];
  const unitPriceMicroUsd = BigInt(unitPrice);
  const isListed = unit === 'image' && quantity <= MOST_IMAGE_LINES;
  const counts = isListed ? Array.from({ length: quantity }, () => 1) : [quantity];
  return counts.map((count) => ({ unit, quantity: count, unitPriceMicroUsd, per: 1 }));
}

function linesOfTokens(counts: TokenCounts, prices: TokenPrices): readonly PriceLine[] {
  const { cachedTokens, cacheWriteTokens = 0, cacheWrite1hTokens = 0, imageTokens = 0 } = counts;
  const cached = cachedTokens ?? 0;
  const rest = counts.promptTokens - cached - cacheWriteTokens - cacheWrite1hTokens - imageTokens;
  const { inputPerMillion: input, outputPerMillion: output } = prices;
  const write = prices.cacheWritePerMillion ?? input;
  const lines: [LineUnit, number, string][] = [
    ['input', rest, input],
    ['cached_input', cached, prices.cachedInputPerMillion ?? input],
    ['cache_write', cacheWriteTokens, write],
    ['cache_write_1h', cacheWrite1hTokens, prices.cacheWrite1hPerMillion ?? write],
    ['image_input', imageTokens, prices.imageInputPerMillion ?? input],
    ['output', counts.completionTokens, output],
  ];
  const counted = lines.filter(([, tokens]) => tokens > 0);
  return (counted.length > 0 ? counted : lines.slice(0, 1)).map(([unit, quantity, price]) => ({
    unit,
    quantity,
    unitPriceMicroUsd: BigInt(price),
    per: 1_000_000,
  }));
}

/** The sum of the lines times the factor of a price book, rounded up once to whole micro-USD (decisions G-23, G-30). */
export function sumOf(lines: readonly PriceLine[], factorPermille = WHOLE_PERMILLE): MicroUsd {
  const exact = lines.reduce((sum, line) => sum + exactAmountOf(line), 0n);
  return ceilDiv(exact * factorPermille, TOKENS_PER_PRICE * WHOLE_PERMILLE);
}

/** The amount of a line in micro-USD, as exact decimal digits such as `0.4`. */
export function amountTextOf(line: PriceLine): string {
  return decimalText(exactAmountOf(line), DECIMALS_PER_MILLION);
}

/** In millionths of a micro-USD. */
function exactAmountOf({ quantity, unitPriceMicroUsd, per }: PriceLine): bigint {
  const amount = BigInt(quantity) * unitPriceMicroUsd;
  return per === 1 ? amount * TOKENS_PER_PRICE : amount;
}

/** The amount divided by 10 to the power of `places`, exactly: decimal digits without an exponent. Not negative. */
export function decimalText(amount: bigint, places: number): string {
  const digits = amount.toString().padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  let end = digits.length;
  while (end > whole.length && digits[end - 1] === '0') end -= 1;
  return end === whole.length ? whole : `${whole}.${digits.slice(whole.length, end)}`;
}
