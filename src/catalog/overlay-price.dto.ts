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
  @Int({ min: 0, max: MAX_PRICE, ...optional })
  input_micro_usd_per_million?: number;

  @Int({ min: 0, max: MAX_PRICE, ...optional })
  cached_input_micro_usd_per_million?: number;

  @Int({ min: 0, max: MAX_PRICE, ...optional })
  cache_write_micro_usd_per_million?: number;

  @Int({ min: 0, max: MAX_PRICE, ...optional })
  cache_write_1h_micro_usd_per_million?: number;

  @Int({ min: 0, max: MAX_PRICE, ...optional })
  image_input_micro_usd_per_million?: number;

  @Int({ min: 1, max: MAX_PRICE, ...optional })
  output_micro_usd_per_million?: number;
}

/** The prices of calls whose prompt has more tokens. Lines that it lacks keep their base price. */
export class OverlayTier extends OverlayTokenLines {
  @Int({ min: 1, max: MAX_INPUT_TOKENS })
  above_input_tokens!: number;
}

/** A price in whole micro-USD. Which amounts a unit needs is checked with the unit. */
export class OverlayPrice extends OverlayTokenLines {
  @Enum(['request', 'code_point', 'measured_second', 'requested_second', 'token', 'video'])
  unit!: 'request' | 'code_point' | 'measured_second' | 'requested_second' | 'token' | 'video';

  @Int({ min: 1, max: MAX_PRICE, ...optional })
  micro_usd?: number;

  @Int({ min: 1, max: MAX_PRICE, ...optional })
  max_mode_micro_usd?: number;

  @Nested(() => OverlayImagePrice, { ...optional, list: { min: 1, max: MAX_ROWS } })
  by_quality_size?: OverlayImagePrice[];

  @Nested(() => OverlayTier, { ...optional, list: { min: 1, max: MAX_TIERS } })
  tiers?: OverlayTier[];

  @Nested(() => OverlayVideoPrice, { ...optional, list: { min: 1, max: MAX_ROWS } })
  by_seconds?: OverlayVideoPrice[];

  @Nested(() => OverlaySecondPrice, { ...optional, list: { min: 1, max: MAX_ROWS } })
  per_second?: OverlaySecondPrice[];
}

/** The price of an image of one quality and size. */
export class OverlayImagePrice {
  @Text({ max: MAX_NAME })
  quality!: string;

  @Text({ max: MAX_NAME })
  size!: string;

  @Int({ min: 1, max: MAX_PRICE })
  micro_usd!: number;
}

/** The price of one `seconds` value of a video model. */
export class OverlayVideoPrice {
  @Pattern(/^[1-9][0-9]{0,3}$/, 'must be whole seconds as a string')
  seconds!: string;

  @Int({ min: 1, max: MAX_PRICE })
  micro_usd!: number;
}

/** The price of one second of a video of one resolution, with or without sound. */
export class OverlaySecondPrice {
  @Text({ max: MAX_NAME })
  resolution!: string;

  @Bool()
  sound!: boolean;

  @Int({ min: 1, max: MAX_PRICE })
  micro_usd_per_second!: number;
}
