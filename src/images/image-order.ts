import { type ImageChoice, MAX_IMAGES_OF_CALL } from '../catalog/image-choices.js';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfImages } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import { oneOfWords } from '../common/validation/fields.js';
import type { ImageWishes } from '../providers/ports/image.port.js';
import type { ImageFields } from './dto/image.body.js';

/** The value that means the default behaviour; it is not forwarded (decision G-94). */
const AUTOMATIC = 'auto';

/** The images that are sent for, and what each of them costs. */
export interface ImageOrder {
  readonly wishes: ImageWishes;
  readonly count: number;
  /** The price of so many images. */
  readonly quoteFor: (count: number) => Quote;
}

/**
 * What is ordered of a model. Throws 400 `invalid_request`, whose `param` names the field, for a value that the row of the
 * model does not list.
 */
export function imageOrderOf(row: ModelRow<'image'>, body: ImageFields): ImageOrder {
  const quality = qualityOf(row, body.quality);
  const size = sizeOf(row, body.size);
  const background = backgroundOf(row, body.background);
  const count = countOf(row, body.n);
  checkFormat(row, body);
  const choice: ImageChoice = { size, quality };
  return {
    wishes: {
      prompt: body.prompt,
      size,
      quality,
      background,
      count,
      outputFormat: body.output_format,
      outputCompression: body.output_compression,
    },
    count,
    quoteFor: (made) => quoteOfImages(row, choice, made),
  };
}

/** Undefined if the size is automatic. */
function sizeOf({ limits: { sizes } }: ModelRow<'image'>, size = AUTOMATIC): string | undefined {
  if (size === AUTOMATIC) return undefined;
  if (sizes.includes(size)) return size;
  throw rejection('size', [...sizes, AUTOMATIC]);
}

/**
 * The first quality of the row where the caller names none, because the price depends on it. Undefined for a row without
 * qualities: its own is fixed by its constants, and a caller may send the same value.
 */
function qualityOf(
  { limits: { qualities }, terms }: ModelRow<'image'>,
  quality = AUTOMATIC,
): string | undefined {
  if (qualities) {
    const chosen = quality === AUTOMATIC ? qualities[0] : quality;
    if (chosen !== undefined && qualities.includes(chosen)) return chosen;
    throw rejection('quality', [...qualities, AUTOMATIC]);
  }
  const own = terms?.constants?.quality;
  if (quality === AUTOMATIC || quality === own) return undefined;
  throw rejection('quality', typeof own === 'string' ? [AUTOMATIC, own] : [AUTOMATIC]);
}

function backgroundOf(
  { limits: { backgrounds = [] } }: ModelRow<'image'>,
  background = AUTOMATIC,
): string | undefined {
  if (background === AUTOMATIC) return undefined;
  if (backgrounds.includes(background)) return background;
  throw rejection('background', [...backgrounds, AUTOMATIC]);
}

function countOf({ limits: { maxN = 1 } }: ModelRow<'image'>, count = 1): number {
  const most = Math.min(maxN, MAX_IMAGES_OF_CALL);
  if (count <= most) return count;
  const says = most === 1 ? 'must be 1' : `must be a whole number from 1 to ${most}`;
  throw fault('n', `${says} with this model`);
}

function checkFormat(
  { limits: { outputFormats } }: ModelRow<'image'>,
  { output_format: format, output_compression: compression }: ImageFields,
): void {
  if (outputFormats === undefined) {
    if (format !== undefined) throw fault('output_format', NOT_TAKEN);
    if (compression !== undefined) throw fault('output_compression', NOT_TAKEN);
    return;
  }
  if (format !== undefined && !outputFormats.includes(format)) {
    throw rejection('output_format', outputFormats);
  }
  if (compression !== undefined && (format === undefined || format === 'png')) {
    throw fault('output_compression', 'needs output_format jpeg or webp');
  }
}

const NOT_TAKEN = 'must not be sent with this model';

function rejection(param: string, words: readonly string[]): GatewayError {
  return fault(param, `must be ${oneOfWords(words)}`);
}

function fault(param: string, says: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${says}.`, { param });
}
