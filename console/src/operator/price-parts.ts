import type { Shape } from '../shared/api.js';
import { count, exactUsd, percent } from '../shared/money.js';
import { TOKEN_LINES } from '../shared/price-words.js';

type Price = Shape<'PriceView'>;
type Lines = Partial<Price>;
type OverlayPrice = Shape<'OverlayPrice'>;

/** One amount of a price. Lines of a price and of a cost with the same name are for the same thing. */
export interface PricePart {
  /** What is paid for, in words. */
  readonly name: string;
  /** Micro-USD in digits. */
  readonly microUsd: string;
  /** For what, such as "million tokens". */
  readonly per: string;
  /** The part as which it is paid where a price does not name it. */
  readonly like?: string | undefined;
}

/** As what tokens are paid where the price does not name them. */
const LIKE: Readonly<Record<string, string>> = {
  cached_input_per_million: 'input_per_million',
  cache_write_per_million: 'input_per_million',
  cache_write_1h_per_million: 'cache_write_per_million',
  image_input_per_million: 'input_per_million',
};
const NAMES: ReadonlyMap<string, string> = new Map(TOKEN_LINES);
const TOKEN_PARTS = TOKEN_LINES.map(
  ([field, name]) => [field, name, NAMES.get(LIKE[field] ?? '')] as const,
);
const PARENTS: ReadonlyMap<string, string | undefined> = new Map(
  TOKEN_PARTS.map(([, name, parent]) => [name, parent]),
);
const UNIT_NAMES: Readonly<Record<Price['unit'], readonly [string, string]>> = {
  request: ['Each request', 'request'],
  image: ['Each image', 'image'],
  code_point: ['Text', 'code point'],
  second: ['Time', 'second'],
  token: ['Tokens', 'token'],
};
const WHOLE_PERMILLE = 1_000n;

/** Each amount of the price, in words. */
export function pricePartsOf(price: Price): readonly PricePart[] {
  const [name, unit] = UNIT_NAMES[price.unit];
  const part = (
    what: string,
    microUsd: string | undefined,
    per: string,
    like?: string,
  ): PricePart[] => (microUsd === undefined ? [] : [{ name: what, microUsd, per, like }]);
  const perLength = Object.entries(price.by_seconds ?? {});
  return [
    ...tokenParts(price, ''),
    ...part(name, price.amount_microusd, unit),
    ...part('Max mode', price.max_mode_amount_microusd, 'request'),
    ...(price.by_quality_size ?? []).flatMap(({ quality, size, amount_microusd: amount }) =>
      part(`${quality}, ${size}`, amount, 'image', name),
    ),
    ...perLength.flatMap(([seconds, amount]) => part(`Video of ${seconds} s`, amount, 'video')),
    ...(price.tiers ?? []).flatMap(({ above_input_tokens: above, ...lines }) =>
      tokenParts(lines, `, prompt above ${count(above)} tokens`),
    ),
  ];
}

function tokenParts(lines: Lines, tier: string): PricePart[] {
  return TOKEN_PARTS.flatMap(([field, name, parent]) => {
    const microUsd = lines[field];
    if (microUsd === undefined) return [];
    const like = tier === '' ? parent : name;
    return [{ name: name + tier, microUsd, per: 'million tokens', like }];
  });
}

/** The price in short, and for what: "$1.25 input, $10.00 output", "million tokens". */
export function shortPrice(price: Price): readonly [string, string] {
  const { input_per_million: input, output_per_million: output, amount_microusd: amount } = price;
  if (input !== undefined) {
    const out = output === undefined ? '' : `, ${exactUsd(output)} output`;
    return [`${exactUsd(input)} input${out}`, 'million tokens'];
  }
  if (amount !== undefined) return [exactUsd(amount), UNIT_NAMES[price.unit][1]];
  const lengths = Object.entries(price.by_seconds ?? {});
  const [first] = lengths;
  if (first === undefined) return ['–', UNIT_NAMES[price.unit][1]];
  const from = lengths.length > 1 ? 'from ' : '';
  return [`${from}${exactUsd(first[1])}`, `video of ${first[0]} s`];
}

/** What is left of an amount after its cost, in thousandths of the amount; undefined where one is not known or is 0. */
export function marginPermille(price: string, cost: string | undefined): bigint | undefined {
  const paid = BigInt(price);
  if (cost === undefined || paid === 0n) return undefined;
  return ((paid - BigInt(cost)) * WHOLE_PERMILLE) / paid;
}

/** The least margin among the amounts of a price; undefined where none has a cost. */
export function leastMargin(price: Price, cost: Price): bigint | undefined {
  const costOf = costsOf(cost);
  const margins = pricePartsOf(price).flatMap((part) => {
    const margin = marginPermille(part.microUsd, costOf(part));
    return margin === undefined ? [] : [margin];
  });
  return margins.length === 0
    ? undefined
    : margins.reduce((one, other) => (one < other ? one : other));
}

/** What each part of a price costs: undefined where the cost does not tell. */
export function costsOf(cost: Price): (part: PricePart) => string | undefined {
  const amounts = new Map(pricePartsOf(cost).map(({ name, microUsd }) => [name, microUsd]));
  const amountOf = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : (amounts.get(name) ?? amountOf(PARENTS.get(name)));
  return ({ name, like }) => amounts.get(name) ?? amountOf(like);
}

/** A price as a price book has it, as the catalog shows prices. */
export function listedPrice(price: OverlayPrice): Price {
  const { unit, micro_usd: amount, max_mode_micro_usd: maxMode, by_seconds: lengths } = price;
  const { by_quality_size: images, tiers } = price;
  return {
    unit: UNITS_OF_BOOKS[unit],
    ...overlayLines(price),
    ...(amount !== undefined && { amount_microusd: String(amount) }),
    ...(maxMode !== undefined && { max_mode_amount_microusd: String(maxMode) }),
    ...(images && {
      by_quality_size: images.map(({ micro_usd: each, ...image }) => ({
        ...image,
        amount_microusd: String(each),
      })),
    }),
    ...(tiers && {
      tiers: tiers.map(({ above_input_tokens: above, ...lines }) => ({
        above_input_tokens: above,
        ...overlayLines(lines),
      })),
    }),
    ...(lengths && {
      by_seconds: Object.fromEntries(
        lengths.map(({ seconds, micro_usd: each }) => [seconds, String(each)]),
      ),
    }),
  };
}

const UNITS_OF_BOOKS: Readonly<Record<OverlayPrice['unit'], Price['unit']>> = {
  ...{ request: 'request', code_point: 'code_point', token: 'token', video: 'request' },
  ...{ measured_second: 'second', requested_second: 'second' },
};

/** `input_micro_usd_per_million` of an overlay is `input_per_million` of the catalog. */
function overlayLines(price: object): Lines {
  const amounts = Object.entries(price).filter(([name]) => name.endsWith('_per_million'));
  return Object.fromEntries(
    amounts.map(([name, amount]) => [name.replace('_micro_usd', ''), String(amount)]),
  );
}

/** What a factor makes of listed prices, in words. */
export const factorWords = (permille: number): string =>
  permille === 1_000 ? 'the listed prices' : `${percent(permille, 1_000)} of the listed prices`;
