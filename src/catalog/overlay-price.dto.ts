import { Bool, Enum, Int, Nested, Pattern, Text } from '../common/validation/fields.js';
import type { TokenLine } from './token-price.js';

const MAX_NAME = 200;
const MAX_PRICE = Number.MAX_SAFE_INTEGER;
/** More than the longest prompt of any model. */
const MAX_INPUT_TOKENS = 1_000_000_000;
const MAX_TIERS = 20;
const MAX_ROWS = 100;
const optional = { optional: true } as const;

/** Micro-USD for a million tokens of each kind. */
type TokenAmounts = Readonly<Partial<Record<`${TokenLine}_micro_usd_per_million`, number>>>;

/** The lines of a price per token. */
export class OverlayTokenLines implements TokenAmounts {
  @Int({
    min: 0,
    max: MAX_PRICE,
    ...optional,
    description: 'Per million prompt tokens that no other line counts',
  })
  input_micro_usd_per_million?: number;

  @Int({ min: 0, max: MAX_PRICE, ...optional, description: 'Per million cached prompt tokens' })
  cached_input_micro_usd_per_million?: number;

  @Int({
    min: 0,
    max: MAX_PRICE,
    ...optional,
    description: 'Per million prompt tokens written to the cache for 5 minutes',
  })
  cache_write_micro_usd_per_million?: number;

  @Int({
    min: 0,
    max: MAX_PRICE,
    ...optional,
    description: 'Per million prompt tokens written to the cache for an hour',
  })
  cache_write_1h_micro_usd_per_million?: number;

  @Int({ min: 0, max: MAX_PRICE, ...optional, description: 'Per million prompt tokens of images' })
  image_input_micro_usd_per_million?: number;

  @Int({ min: 1, max: MAX_PRICE, ...optional, description: 'Per million completion tokens' })
  output_micro_usd_per_million?: number;
}

/** The prices of calls whose prompt has more tokens. Lines that it lacks keep their base price. */
export class OverlayTier extends OverlayTokenLines {
  @Int({
    min: 1,
    max: MAX_INPUT_TOKENS,
    description: 'Its prices hold once the prompt has more tokens than this',
  })
  above_input_tokens!: number;
}

/** A price in whole micro-USD. Which amounts a unit needs is checked with the unit. */
export class OverlayPrice extends OverlayTokenLines {
  @Enum(['request', 'code_point', 'measured_second', 'requested_second', 'token', 'video'], {
    description: 'What is counted: that of the operation of the model',
  })
  unit!: 'request' | 'code_point' | 'measured_second' | 'requested_second' | 'token' | 'video';

  @Int({ min: 1, max: MAX_PRICE, ...optional, description: 'Micro-USD per unit' })
  micro_usd?: number;

  @Int({ min: 1, max: MAX_PRICE, ...optional, description: 'Micro-USD per request in Max mode' })
  max_mode_micro_usd?: number;

  @Nested(() => OverlayImagePrice, {
    ...optional,
    list: { min: 1, max: MAX_ROWS },
    description: 'Images with a price of their own',
  })
  by_quality_size?: OverlayImagePrice[];

  @Nested(() => OverlayTier, {
    ...optional,
    list: { min: 1, max: MAX_TIERS },
    description: 'Prices of calls with a longer prompt',
  })
  tiers?: OverlayTier[];

  @Nested(() => OverlayVideoPrice, {
    ...optional,
    list: { min: 1, max: MAX_ROWS },
    description: 'Prices by `seconds` of the request',
  })
  by_seconds?: OverlayVideoPrice[];

  @Nested(() => OverlaySecondPrice, {
    ...optional,
    list: { min: 1, max: MAX_ROWS },
    description: 'Prices per second, by resolution and sound',
  })
  per_second?: OverlaySecondPrice[];
}

/** The price of an image of one quality and size. */
export class OverlayImagePrice {
  @Text({ max: MAX_NAME, description: 'The quality of the image' })
  quality!: string;

  @Text({ max: MAX_NAME, description: 'The size of the image' })
  size!: string;

  @Int({ min: 1, max: MAX_PRICE, description: 'Micro-USD per image' })
  micro_usd!: number;
}

/** The price of one `seconds` value of a video model. */
export class OverlayVideoPrice {
  @Pattern(/^[1-9][0-9]{0,3}$/, 'must be whole seconds as a string', {
    description: 'The length as the request names it',
  })
  seconds!: string;

  @Int({ min: 1, max: MAX_PRICE, description: 'Micro-USD per video' })
  micro_usd!: number;
}

/** The price of one second of a video of one resolution, with or without sound. */
export class OverlaySecondPrice {
  @Text({ max: MAX_NAME, description: 'The resolution of the video' })
  resolution!: string;

  @Bool({ description: 'Whether the video has sound' })
  sound!: boolean;

  @Int({ min: 1, max: MAX_PRICE, description: 'Micro-USD per second' })
  micro_usd_per_second!: number;
}
