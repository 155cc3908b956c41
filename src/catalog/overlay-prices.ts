import type { Operation } from '../providers/ports/provider-ports.js';
import { unitsOf } from './operations.js';
import type { OverlayPrice, OverlayTokenLines } from './overlay-price.dto.js';
import { RowFaults } from './overlay-terms.js';
import type { PerRequest } from './image-choices.js';
import type { PriceRule } from './price-rule.js';
import type { PerVideo } from './video-choices.js';
import {
  INPUT_LINES,
  type PerToken,
  TOKEN_LINES,
  type TokenLine,
  type TokenLinePrices,
  type TokenTier,
} from './token-price.js';

interface Amounts {
  readonly required: readonly (keyof OverlayPrice)[];
  readonly optional: readonly (keyof OverlayPrice)[];
}

const ofMillion = <L extends TokenLine>(line: L) => `${line}_micro_usd_per_million` as const;
const REQUIRED_LINES: readonly TokenLine[] = ['input', 'output'];
const OPTIONAL_LINES = INPUT_LINES.filter((line) => !REQUIRED_LINES.includes(line));

const AMOUNTS_OF: Readonly<Record<PriceRule['unit'], Amounts>> = {
  request: { required: ['micro_usd'], optional: ['max_mode_micro_usd'] },
  code_point: { required: ['micro_usd'], optional: [] },
  measured_second: { required: ['micro_usd'], optional: [] },
  requested_second: { required: ['micro_usd'], optional: [] },
  token: {
    required: REQUIRED_LINES.map(ofMillion),
    optional: ['tiers', ...OPTIONAL_LINES.map(ofMillion)],
  },
  video: { required: ['by_seconds'], optional: ['per_second'] },
};
/** An embedding has no output tokens, and nothing is cached. */
const AMOUNTS_OF_EMBEDDINGS: Amounts = { required: [ofMillion('input')], optional: [] };
/** By the second or by the song. */
const AMOUNTS_OF_MUSIC: Amounts = { required: ['micro_usd'], optional: [] };
/** Nothing but an image has a quality. */
const AMOUNTS_OF_IMAGE: Amounts = {
  required: ['micro_usd'],
  optional: ['max_mode_micro_usd', 'by_quality_size'],
};

/**
 * The rule of a price in the overlay. Throws an Error or {@link RowFaults}, which name the fields, for a price that does not
 * fit the operation, that lacks an amount, or that has two for the same thing.
 */
export function priceOf(price: OverlayPrice, operation: Operation): PriceRule {
  const { unit, ...amounts } = price;
  const units = unitsOf(operation);
  if (!units.includes(unit))
    throw new Error(`price.unit must be ${units.join(' or ')} for this operation`);
  requireOnly(amounts, amountsOf(operation, unit), 'price');
  switch (unit) {
    case 'token':
      if (operation === 'embeddings') requireSomething(price);
      return tokenPriceOf(price);
    case 'video':
      return videoPriceOf(price);
    case 'request':
      return requestPriceOf(price);
    case 'code_point':
    case 'measured_second':
    case 'requested_second':
      return { unit, microUsd: BigInt(price.micro_usd ?? 0) };
  }
}

function amountsOf(operation: Operation, unit: PriceRule['unit']): Amounts {
  if (operation === 'image') return AMOUNTS_OF_IMAGE;
  if (operation === 'embeddings') return AMOUNTS_OF_EMBEDDINGS;
  if (operation === 'composition') return AMOUNTS_OF_MUSIC;
  return AMOUNTS_OF[unit];
}

/** A call whose only price is 0 would hold nothing. */
function requireSomething(price: OverlayPrice): void {
  if (price.input_micro_usd_per_million === 0) {
    throw new RowFaults(['price.input_micro_usd_per_million must be at least 1']);
  }
}

/** Throws {@link RowFaults} unless exactly the required values are given, and perhaps optional ones. */
export function requireOnly(
  values: object,
  names: { readonly required: readonly string[]; readonly optional: readonly string[] },
  within: string,
): void {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  const missing = names.required.filter((name) => !given.includes(name));
  const extra = given.filter(
    (name) => !names.required.includes(name) && !names.optional.includes(name),
  );
  const faults = [
    ...missing.map((name) => `${within}.${name} is required`),
    ...extra.map((name) => `${within}.${name} does not fit this operation`),
  ];
  if (faults.length > 0) throw new RowFaults(faults);
}

function tokenPriceOf(price: OverlayPrice): PerToken {
  const { tiers = [] } = price;
  requireDistinct(
    'price.tiers',
    'above_input_tokens',
    tiers.map(({ above_input_tokens: above }) => above),
  );
  const sorted = tiers.toSorted((a, b) => a.above_input_tokens - b.above_input_tokens);
  return {
    unit: 'token',
    inputMicroUsdPerMillion: 0n,
    outputMicroUsdPerMillion: 0n,
    ...linePricesOf(price),
    ...(sorted.length > 0 && {
      tiers: sorted.map((tier): TokenTier => ({
        aboveInputTokens: tier.above_input_tokens,
        ...linePricesOf(tier),
      })),
    }),
  };
}

function linePricesOf(lines: OverlayTokenLines): Partial<TokenLinePrices> {
  const named = (Object.keys(TOKEN_LINES) as TokenLine[]).flatMap((line) => {
    const amount = lines[ofMillion(line)];
    return amount === undefined ? [] : [[TOKEN_LINES[line], BigInt(amount)] as const];
  });
  return Object.fromEntries(named);
}

function videoPriceOf({
  by_seconds: bySeconds = [],
  per_second: perSecond = [],
}: OverlayPrice): PerVideo {
  const choices = perSecond.map(({ resolution, sound }) => `${resolution}, sound ${sound}`);
  requireDistinct('price.per_second', 'resolution and sound', choices);
  return {
    unit: 'video',
    microUsdBySeconds: Object.fromEntries(
      bySeconds.map((row) => [row.seconds, BigInt(row.micro_usd)]),
    ),
    ...(perSecond.length > 0 && {
      perSecond: perSecond.map(({ resolution, sound, micro_usd_per_second: amount }) => ({
        resolution,
        sound,
        microUsdPerSecond: BigInt(amount),
      })),
    }),
  };
}

function requestPriceOf(price: OverlayPrice): PerRequest {
  const { max_mode_micro_usd: maxMode, by_quality_size: byQualitySize = [] } = price;
  const choices = byQualitySize.map(({ quality, size }) => `${quality}, ${size}`);
  requireDistinct('price.by_quality_size', 'quality and size', choices);
  return {
    unit: 'request',
    microUsd: BigInt(price.micro_usd ?? 0),
    ...(maxMode !== undefined && { maxModeMicroUsd: BigInt(maxMode) }),
    ...(byQualitySize.length > 0 && {
      byQualitySize: byQualitySize.map(({ quality, size, micro_usd: amount }) => ({
        quality,
        size,
        microUsd: BigInt(amount),
      })),
    }),
  };
}

/** Two prices of one thing would leave open which holds. */
function requireDistinct(list: string, field: string, values: readonly (string | number)[]): void {
  const twice = values.find((value, index) => values.indexOf(value) < index);
  if (twice === undefined) return;
  throw new RowFaults([`${list} has two entries with the same ${field} (${twice})`]);
}
