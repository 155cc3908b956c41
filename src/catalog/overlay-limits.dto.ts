import { Bool, Custom, Enum, Int, Pattern, Text } from '../common/validation/fields.js';
import { MAX_DIMENSIONS } from '../providers/ports/embedding.port.js';
import {
  MAX_EDIT_IMAGES,
  MAX_IMAGES_OF_CALL,
  OUTPUT_FORMATS,
  type OutputFormat,
} from './image-choices.js';
import type { VideoFrame } from './model-limits.js';
import { SONG_SHAPES, type SongShape } from './song-shape.js';
import { isFrameList } from './video-choices.js';

const MAX_NAME = 200;
/** Of a word that the field of a request may have. */
const MAX_CHOICE = 32;
/** More output than any model makes. */
export const MAX_OUTPUT_TOKENS = 10_000_000;
const optional = { optional: true } as const;

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_NAME) return false;
  try {
    return new RegExp(value) instanceof RegExp;
  } catch {
    return false;
  }
}

function isRange(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const isDimension = (n: unknown) =>
    Number.isInteger(n) && Number(n) >= 1 && Number(n) <= MAX_DIMENSIONS;
  return value.every(isDimension) && Number(value[0]) <= Number(value[1]);
}

/** Limits. Only those of the model's operation are valid. */
export class OverlayLimits {
  @Int({ min: 1, max: MAX_OUTPUT_TOKENS, ...optional })
  max_output_tokens?: number;

  @Int({ min: 1, max: 100_000_000, ...optional })
  context_length?: number;

  @Text({ max: MAX_NAME, ...optional, list: { min: 1, max: 100 } })
  sizes?: string[];

  @Text({ max: MAX_CHOICE, ...optional, list: { min: 1, max: 20 } })
  qualities?: string[];

  @Text({ max: MAX_CHOICE, ...optional, list: { min: 1, max: 20 } })
  backgrounds?: string[];

  @Enum(OUTPUT_FORMATS, { ...optional, list: { min: 1, max: OUTPUT_FORMATS.length } })
  output_formats?: OutputFormat[];

  @Int({ min: 1, max: MAX_IMAGES_OF_CALL, ...optional })
  max_n?: number;

  @Int({ min: 1, max: MAX_EDIT_IMAGES, ...optional })
  max_edit_images?: number;

  @Custom(isPattern, 'must be a regular expression', { ...optional, api: { type: String } })
  size_pattern?: string;

  @Text({ max: MAX_NAME, ...optional, list: { min: 1, max: 100 } })
  aspect_ratios?: string[];

  @Int({ min: 0, max: 100, ...optional })
  max_image_urls?: number;

  @Text({ max: MAX_CHOICE, ...optional, list: { min: 1, max: 20 } })
  resolutions?: string[];

  @Bool(optional)
  audio?: boolean;

  @Custom(isFrameList, 'must be ["first"] or ["first", "last"]', {
    ...optional,
    api: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
  })
  frames?: VideoFrame[];

  @Int({ min: 1, max: 1_000_000, ...optional })
  max_input?: number;

  @Int({ min: 1, max: 10, ...optional })
  max_voices?: number;

  @Custom(isRange, `must be two whole numbers from 1 to ${MAX_DIMENSIONS}, the smaller one first`, {
    ...optional,
    api: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 },
  })
  dimensions?: [number, number];

  @Int({ min: 1, max: 1_000_000, ...optional })
  max_input_tokens?: number;

  @Int({ min: 1, max: 2_048, ...optional })
  max_inputs?: number;

  @Int({ min: 1, max: 86_400, ...optional })
  max_seconds?: number;

  @Int({ min: 1, max: 86_400_000_000, ...optional })
  min_micros?: number;

  @Enum(SONG_SHAPES, optional)
  shape?: SongShape;

  @Pattern(/^[a-z][a-z0-9_]{0,63}$/, 'must be lowercase words with underscores', {
    ...optional,
    list: { min: 1, max: 500 },
  })
  stem_types?: string[];
}
