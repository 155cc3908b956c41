import assert from 'node:assert/strict';
import type { ChargeBasis, Quote } from '../common/money/charge-basis.js';
import { ceilDiv, formatMicroUsd, type MicroUsd, multiply } from '../common/money/micro-usd.js';

/** What every rule may have. */
interface Factored {
  /**
   * The part of an amount that an account pays by its price book, in thousandths, from 1 to 10,000; absent = the whole.
   * Unit prices stay as listed (decision G-30).
   */
  readonly factorPermille?: bigint;
}

/** Flat price per accepted request; `maxModeMicroUsd` if the model offers Max mode. */
export interface PerRequest extends Factored {
  readonly unit: 'request';
  readonly microUsd: MicroUsd;
  readonly maxModeMicroUsd?: MicroUsd;
}
/** Price of one Unicode code point of billed text. */
export interface PerCodePoint extends Factored {
  readonly unit: 'code_point';
  readonly microUsd: MicroUsd;
}
/** Price of one billable second of measured media. */
export interface PerMeasuredSecond extends Factored {
  readonly unit: 'measured_second';
  readonly microUsd: MicroUsd;
}
/** Price of one requested second; fractions are rounded up to whole seconds. */
export interface PerRequestedSecond extends Factored {
  readonly unit: 'requested_second';
  readonly microUsd: MicroUsd;
}
/** Prices of one million tokens. Only in this rule the price of one unit is not a whole number (decision G-23). */
export interface PerToken extends Factored {
  readonly unit: 'token';
  readonly inputMicroUsdPerMillion: MicroUsd;
  readonly outputMicroUsdPerMillion: MicroUsd;
}
/** A price per value of `seconds` (decision G-26). */
export interface PerVideo extends Factored {
  readonly unit: 'video';
  readonly microUsdBySeconds: Readonly<Record<string, MicroUsd>>;
}

/** How a model is priced. */
export type PriceRule =
  PerRequest | PerCodePoint | PerMeasuredSecond | PerRequestedSecond | PerToken | PerVideo;

const TOKENS_PER_PRICE = 1_000_000n;
/** The factor that changes nothing, in thousandths. */
export const WHOLE_PERMILLE = 1_000n;

/** Price of a flat request (API: Money). */
export function priceOfRequest(rule: PerRequest, maxMode = false): MicroUsd {
  return amountOf(rule, unitPriceOfRequest(rule, maxMode), 1);
}

function unitPriceOfRequest(rule: PerRequest, maxMode: boolean): MicroUsd {
  if (!maxMode) return rule.microUsd;
  assert(rule.maxModeMicroUsd !== undefined, 'the model has no price for Max mode');
  return rule.maxModeMicroUsd;
}

/** Units at their price, times the factor of the rule, rounded up once (decision G-30). */
function amountOf(rule: Factored, unitPrice: MicroUsd, units: number | bigint): MicroUsd {
  return ceilDiv(multiply(unitPrice, units) * factorOf(rule), WHOLE_PERMILLE);
}

function factorOf({ factorPermille = WHOLE_PERMILLE }: Factored): bigint {
  return factorPermille;
}

/** Price of a text by its Unicode code points, as it was sent (decision G-36). */
export function priceOfText(rule: PerCodePoint, codePoints: number): MicroUsd {
  return amountOf(rule, rule.microUsd, codePoints);
}

/** Price of whole billable or requested seconds. */
export function priceOfSeconds(
  rule: PerMeasuredSecond | PerRequestedSecond,
  seconds: bigint,
): MicroUsd {
  assert(seconds >= 1n, 'billed seconds must be at least 1');
  return amountOf(rule, rule.microUsd, seconds);
}

/** {@link priceOfText}, with the basis of the charge. */
export function quoteOfText(rule: PerCodePoint, codePoints: number): Quote {
  return quoteOf('code_point', codePoints, rule.microUsd, priceOfText(rule, codePoints));
}

/** {@link priceOfSeconds}, with the basis of the charge. */
export function quoteOfSeconds(
  rule: PerMeasuredSecond | PerRequestedSecond,
  seconds: bigint,
): Quote {
  return quoteOf('second', Number(seconds), rule.microUsd, priceOfSeconds(rule, seconds));
}

/** {@link priceOfRequest}, with the basis of the charge. */
export function quoteOfRequest(rule: PerRequest, maxMode = false): Quote {
  const unitPrice = unitPriceOfRequest(rule, maxMode);
  return quoteOf('request', 1, unitPrice, priceOfRequest(rule, maxMode));
}

/** Price of one image, with the basis of the charge. */
export function quoteOfImage(rule: PerRequest): Quote {
  return quoteOf('image', 1, rule.microUsd, priceOfRequest(rule));
}

function quoteOf(
  unit: ChargeBasis['unit'],
  quantity: number,
  unitPriceMicroUsd: MicroUsd,
  amountMicroUsd: MicroUsd,
): Quote {
  const unitPrice = formatMicroUsd(unitPriceMicroUsd);
  return { amountMicroUsd, basis: { unit, quantity, unitPrice, isEstimated: false } };
}

/** Price of token usage, rounded up once to a whole micro-USD (decisions G-23, G-30). */
export function priceOfTokens(rule: PerToken, inputTokens: bigint, outputTokens: bigint): MicroUsd {
  const scaled =
    inputTokens * rule.inputMicroUsdPerMillion + outputTokens * rule.outputMicroUsdPerMillion;
  return ceilDiv(scaled * factorOf(rule), TOKENS_PER_PRICE * WHOLE_PERMILLE);
}

/**
 * Price of a video by its `seconds`, with the basis of the charge: one request at the price of its length, because
 * lengths are not priced by the second. Undefined if the model does not sell that length.
 */
export function quoteOfVideo(rule: PerVideo, seconds: string): Quote | undefined {
  const price = Object.hasOwn(rule.microUsdBySeconds, seconds)
    ? rule.microUsdBySeconds[seconds]
    : undefined;
  if (price === undefined) return undefined;
  return quoteOf('request', 1, price, amountOf(rule, price, 1));
}
