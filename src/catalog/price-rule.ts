import assert from 'node:assert/strict';
import type { ChargeBasis, Quote } from '../common/money/charge-basis.js';
import { ceilDiv, formatMicroUsd, type MicroUsd, multiply } from '../common/money/micro-usd.js';
import { WHOLE_PERMILLE } from '../common/money/price-lines.js';
import type { UpstreamTerms } from '../providers/ports/attempt.js';
import { type Factored, factorOf } from './price-factor.js';
import type { PerToken } from './token-price.js';
import { type ImageChoice, type PerRequest, unitPriceOfImage } from './image-choices.js';
import { type PerVideo, secondPriceOf, type VideoChoice } from './video-choices.js';

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
/** How a model is priced. */
export type PriceRule =
  PerRequest | PerCodePoint | PerMeasuredSecond | PerRequestedSecond | PerToken | PerVideo;

/** The parts of a row that its price depends on. */
interface PricedRow<R extends PriceRule> {
  readonly price: R;
  readonly terms?: Pick<UpstreamTerms, 'constants'> | undefined;
}

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
  return {
    ...quoteOf('request', 1, unitPrice, priceOfRequest(rule, maxMode)),
    choice: { maxMode },
  };
}

/** Price of images, with the basis of the charge: see {@link unitPriceOfImage}. */
export function quoteOfImages(
  row: PricedRow<PerRequest>,
  wanted: ImageChoice,
  count: number,
): Quote {
  const unitPrice = unitPriceOfImage(row, wanted);
  const quote = quoteOf('image', count, unitPrice, amountOf(row.price, unitPrice, count));
  return { ...quote, choice: wanted };
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

/** Price of a video, with the basis of the charge: see {@link unitsOfVideo}. */
export function quoteOfVideo(
  row: PricedRow<PerVideo>,
  seconds: string,
  chosen: VideoChoice = {},
): Quote | undefined {
  const units = unitsOfVideo(row, seconds, chosen);
  if (units === undefined) return undefined;
  const { unit, quantity, unitPrice } = units;
  const quote = quoteOf(unit, quantity, unitPrice, amountOf(row.price, unitPrice, quantity));
  return { ...quote, choice: { seconds, ...chosen } };
}

/** What a video counts, and its price for each. */
interface VideoUnits {
  readonly unit: 'second' | 'request';
  readonly quantity: number;
  readonly unitPrice: MicroUsd;
}

/**
 * The units of a video of this length: its seconds where the constants of its row or the caller choose a price per second,
 * else one request at the price of its length. Undefined if the model does not sell that length.
 */
export function unitsOfVideo(
  { price, terms }: PricedRow<PerVideo>,
  seconds: string,
  chosen: VideoChoice = {},
): VideoUnits | undefined {
  const { microUsdBySeconds } = price;
  const ofLength = Object.hasOwn(microUsdBySeconds, seconds) && microUsdBySeconds[seconds];
  if (ofLength === false || ofLength === undefined) return undefined;
  const perSecond = secondPriceOf(price, terms?.constants, chosen);
  return perSecond === undefined
    ? { unit: 'request', quantity: 1, unitPrice: ofLength }
    : { unit: 'second', quantity: Number(seconds), unitPrice: perSecond };
}
