import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ModelRow } from './model-row.js';
import { type PerRequest, usualPriceOfImage } from './image-choices.js';
import { unitsOfVideo } from './price-rule.js';
import { TOKEN_LINES, type TokenLine, type TokenLinePrices } from './token-price.js';
import {
  choiceAtProvider,
  secondPriceOf,
  type VideoChoice,
  videoChoicesOf,
  type PerVideo,
} from './video-choices.js';
import type { JsonObject } from '../common/json-object.js';
import { formatMicroUsd, multiply } from '../common/money/micro-usd.js';

/** The parts of a row that its shown price depends on. */
export type PricedRow = Pick<ModelRow, 'operation' | 'price' | 'terms' | 'limits'>;

const UNITS = ['request', 'image', 'code_point', 'second', 'token'] as const;

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

/** The price of a second of a video. */
export class SecondPriceView {
  @ApiProperty({ example: '720p', description: 'The `resolution` of the request' })
  resolution!: string;

  @ApiProperty({ example: true, description: 'The `audio` of the request' })
  sound!: boolean;

  @ApiProperty({ example: '50000', description: 'Micro-USD per second' })
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
    description:
      'Micro-USD per request, by its `seconds`; of a video that has prices per second, without a choice of resolution and sound',
  })
  by_seconds?: Record<string, string>;

  @ApiPropertyOptional({
    type: [SecondPriceView],
    description: 'Prices of a second of a video, where a request may choose among them',
  })
  per_second?: SecondPriceView[];

  @ApiPropertyOptional({
    type: 'integer',
    example: 900,
    description:
      'Thousandths of an amount that the account of the key pays, by its price book. The other fields are the listed prices: quantity times price times this / 1000 is rounded up to whole micro-USD. Absent where the prices are paid as they stand',
  })
  factor_permille?: number;
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
      return viewVideoPrice(rule, row);
    case 'request':
      return row.operation === 'image' ? viewImagePrice(rule, row) : viewRequestPrice(rule);
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

function viewVideoPrice(price: PerVideo, { limits, terms }: PricedRow): PriceView {
  const choices = videoChoicesOf(limits as ModelRow<'video'>['limits']);
  const [usual = {}] = choices;
  const lengths = Object.keys(price.microUsdBySeconds).flatMap((seconds) => {
    const units = unitsOfVideo({ price, terms }, seconds, usual);
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
    ...(choices.length > 1 && viewSecondPrices(price, terms?.constants, choices)),
  };
}

function viewSecondPrices(
  price: PerVideo,
  constants: JsonObject | undefined,
  choices: readonly VideoChoice[],
): Pick<PriceView, 'per_second'> {
  const priced = choices.flatMap((choice) => {
    const amount = secondPriceOf(price, constants, choice);
    if (amount === undefined) return [];
    const { resolution, sound } = choiceAtProvider(constants, choice);
    return [
      {
        resolution: String(resolution),
        sound: sound === true,
        amount_microusd: formatMicroUsd(amount),
      },
    ];
  });
  return priced.length > 0 ? { per_second: priced } : {};
}

function viewImagePrice(price: PerRequest, row: PricedRow): PriceView {
  const { terms } = row;
  const { quality, size } = terms?.constants ?? {};
  const { qualities = [quality] } = row.limits as ModelRow<'image'>['limits'];
  const possible = (price.byQualitySize ?? []).filter(
    (each) => qualities.includes(each.quality) && (size === undefined || each.size === size),
  );
  return {
    ...viewRequestPrice({ ...price, microUsd: usualPriceOfImage(price, row) }),
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
