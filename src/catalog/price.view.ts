import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ModelRow } from './model-row.js';
import { factorOf } from './price-factor.js';
import { type PerRequest, type PerVideo, unitPriceOfImage, unitsOfVideo } from './price-rule.js';
import { TOKEN_LINES, type TokenLine, type TokenLinePrices } from './token-price.js';
import { decimalText } from '../common/money/price-lines.js';
import { formatMicroUsd, type MicroUsd, multiply } from '../common/money/micro-usd.js';

/** The parts of a row that its shown price depends on. */
type PricedRow = Pick<ModelRow, 'operation' | 'price' | 'terms'>;

const UNITS = ['request', 'image', 'code_point', 'second', 'token'] as const;
const FREE = '0';
/** Decimals of one micro-USD, and of one per million. */
const DECIMALS_OF_MICRO = 6;
const DECIMALS_PER_MILLION = 12;
/** Decimals of one thousandth. */
const DECIMALS_OF_FACTOR = 3;

const perMillion = (tokens: string) =>
  ApiPropertyOptional({ type: String, description: `Micro-USD per million ${tokens}` });

/** Prices of tokens. A line that is absent costs as its parent does. */
export class TokenPriceView {
  @perMillion('prompt tokens that no other line counts')
  input_per_million?: string;

  @perMillion('prompt tokens that the provider had cached. Absent: as `input_per_million`')
  cached_input_per_million?: string;

  @perMillion('prompt tokens written to the cache for 5 minutes. Absent: as `input_per_million`')
  cache_write_per_million?: string;

  @perMillion(
    'prompt tokens written to the cache for an hour. Absent: as `cache_write_per_million`',
  )
  cache_write_1h_per_million?: string;

  @perMillion('prompt tokens of images. Absent: as `input_per_million`')
  image_input_per_million?: string;

  @perMillion('completion tokens, those of reasoning included')
  output_per_million?: string;
}

/** The prices of calls with a longer prompt. */
export class TokenTierView extends TokenPriceView {
  @ApiProperty({
    type: 'integer',
    example: 200_000,
    description:
      'Its prices hold for the whole call once the prompt has more tokens than this, cached ones included. Of its lines, an absent one costs as in the price itself',
  })
  above_input_tokens!: number;
}

/** The price of an image of one quality and size. */
export class ImagePriceView {
  @ApiProperty({ example: 'high', description: 'The quality of the image' })
  quality!: string;

  @ApiProperty({ example: '1024x1024', description: 'The size of the image' })
  size!: string;

  @ApiProperty({ example: '167000', description: 'Micro-USD per image' })
  amount_microusd!: string;
}

/** The price of a model. Amounts are micro-USD in digits; only those of its unit are present. */
export class PriceView extends TokenPriceView {
  @ApiProperty({ enum: UNITS, description: 'What is counted' })
  unit!: (typeof UNITS)[number];

  @ApiPropertyOptional({ example: '120', description: 'Micro-USD per unit' })
  amount_microusd?: string;

  @ApiPropertyOptional({ description: 'Micro-USD per request in Max mode' })
  max_mode_amount_microusd?: string;

  @ApiPropertyOptional({
    type: [ImagePriceView],
    description: 'Images of these qualities and sizes have a price of their own',
  })
  by_quality_size?: ImagePriceView[];

  @ApiPropertyOptional({ type: [TokenTierView], description: 'By rising `above_input_tokens`' })
  tiers?: TokenTierView[];

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Micro-USD per request, by its `seconds`',
  })
  by_seconds?: Record<string, string>;

  @ApiPropertyOptional({
    type: 'integer',
    example: 900,
    description:
      'Thousandths of an amount that the account of the key pays, by its price book. The other fields are the listed prices: quantity times price times this / 1000 is rounded up to whole micro-USD. Absent where the prices are paid as they stand',
  })
  factor_permille?: number;
}

/** What model pickers read: USD in decimal digits. `price` is exact for every unit. */
export class PricingView {
  @ApiProperty({
    example: '0.00000025',
    description: 'USD per prompt token; 0 unless sold by token',
  })
  prompt!: string;

  @ApiProperty({
    example: '0.000002',
    description: 'USD per completion token; 0 unless sold by token',
  })
  completion!: string;

  @ApiPropertyOptional({ example: '0.01', description: 'USD per request, where it has one price' })
  request?: string;

  @ApiPropertyOptional({
    example: '0.000000025',
    description: 'USD per cached prompt token, where it has a price of its own',
  })
  input_cache_read?: string;

  @ApiPropertyOptional({
    example: '0.0000003125',
    description: 'USD per prompt token written to the cache, where it has a price of its own',
  })
  input_cache_write?: string;
}

/**
 * The price of a row, as a caller pays it: of what the constants of the row choose, only the price that they choose. The
 * unit of an image price is one image. Amounts are as listed, with the factor of the account's price book beside them.
 */
export function viewPrice(row: PricedRow): PriceView {
  const { factorPermille } = row.price;
  const listed = viewListed(row);
  return factorPermille === undefined
    ? listed
    : { ...listed, factor_permille: Number(factorPermille) };
}

function viewListed(row: PricedRow): PriceView {
  const { price: rule } = row;
  switch (rule.unit) {
    case 'token':
      return {
        unit: 'token',
        ...viewLines(row.operation === 'embeddings' ? inputOf(rule) : rule),
        ...(rule.tiers && {
          tiers: rule.tiers.map(({ aboveInputTokens, ...lines }) => ({
            above_input_tokens: aboveInputTokens,
            ...viewLines(lines),
          })),
        }),
      };
    case 'video':
      return viewVideoPrice(rule, row.terms);
    case 'request':
      return row.operation === 'image' ? viewImagePrice(rule, row.terms) : viewRequestPrice(rule);
    case 'code_point':
      return { unit: 'code_point', amount_microusd: formatMicroUsd(rule.microUsd) };
    case 'measured_second':
    case 'requested_second':
      return { unit: 'second', amount_microusd: formatMicroUsd(rule.microUsd) };
  }
}

/** An embedding has no output. */
function inputOf({ inputMicroUsdPerMillion }: TokenLinePrices): Partial<TokenLinePrices> {
  return { inputMicroUsdPerMillion };
}

function viewLines(prices: Partial<TokenLinePrices>): TokenPriceView {
  const lines = (Object.keys(TOKEN_LINES) as TokenLine[]).flatMap((line) => {
    const amount = prices[TOKEN_LINES[line]];
    return amount === undefined ? [] : [[`${line}_per_million`, formatMicroUsd(amount)] as const];
  });
  return Object.fromEntries(lines);
}

function viewVideoPrice(price: PerVideo, terms: PricedRow['terms']): PriceView {
  const lengths = Object.keys(price.microUsdBySeconds).flatMap((seconds) => {
    const units = unitsOfVideo({ price, terms }, seconds);
    return units === undefined ? [] : [{ seconds, ...units }];
  });
  const [first] = lengths;
  return {
    ...(first?.unit === 'second'
      ? { unit: 'second', amount_microusd: formatMicroUsd(first.unitPrice) }
      : { unit: 'request' }),
    by_seconds: Object.fromEntries(
      lengths.map(({ seconds, quantity, unitPrice }) => [
        seconds,
        formatMicroUsd(multiply(unitPrice, quantity)),
      ]),
    ),
  };
}

function viewImagePrice(price: PerRequest, terms: PricedRow['terms']): PriceView {
  const { quality, size } = terms?.constants ?? {};
  const possible = (price.byQualitySize ?? []).filter(
    (row) => row.quality === quality && (size === undefined || row.size === size),
  );
  return {
    ...viewRequestPrice({ ...price, microUsd: unitPriceOfImage({ price, terms }, undefined) }),
    unit: 'image',
    ...(possible.length > 0 && {
      by_quality_size: possible.map((row) => ({
        quality: row.quality,
        size: row.size,
        amount_microusd: formatMicroUsd(row.microUsd),
      })),
    }),
  };
}

function viewRequestPrice({ microUsd, maxModeMicroUsd: maxMode }: PerRequest): PriceView {
  return {
    unit: 'request',
    amount_microusd: formatMicroUsd(microUsd),
    ...(maxMode !== undefined && { max_mode_amount_microusd: formatMicroUsd(maxMode) }),
  };
}

/** The price in the words of model pickers, by the factor of the account. */
export function viewPricing({ operation, price, terms }: PricedRow): PricingView {
  const usd = (amount: MicroUsd, places: number) =>
    decimalText(amount * factorOf(price), places + DECIMALS_OF_FACTOR);
  if (price.unit === 'token') {
    const { cachedInputMicroUsdPerMillion: read, cacheWriteMicroUsdPerMillion: write } = price;
    return {
      prompt: usd(price.inputMicroUsdPerMillion, DECIMALS_PER_MILLION),
      completion: usd(price.outputMicroUsdPerMillion, DECIMALS_PER_MILLION),
      ...(read !== undefined && { input_cache_read: usd(read, DECIMALS_PER_MILLION) }),
      ...(write !== undefined && { input_cache_write: usd(write, DECIMALS_PER_MILLION) }),
    };
  }
  if (price.unit !== 'request') return { prompt: FREE, completion: FREE };
  const isImage = operation === 'image';
  const amount = isImage ? unitPriceOfImage({ price, terms }, undefined) : price.microUsd;
  return { prompt: FREE, completion: FREE, request: usd(amount, DECIMALS_OF_MICRO) };
}
