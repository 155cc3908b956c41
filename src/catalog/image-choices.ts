import type { PriceChoice } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { UpstreamTerms } from '../providers/ports/attempt.js';
import { hidesField } from './overlay-terms.js';
import type { Limits } from './model-limits.js';
import type { Factored } from './price-factor.js';

/**
 * Flat price per accepted request; `maxModeMicroUsd` if the model offers Max mode. An image whose quality and size are in
 * `byQualitySize` has the price there.
 */
export interface PerRequest extends Factored {
  readonly unit: 'request';
  readonly microUsd: MicroUsd;
  readonly maxModeMicroUsd?: MicroUsd;
  readonly byQualitySize?: readonly ImagePrice[];
}
/** The price of an image of this quality and size. */
interface ImagePrice {
  readonly quality: string;
  readonly size: string;
  readonly microUsd: MicroUsd;
}

/** What of a request chooses one of several prices of an image. */
export type ImageChoice = Pick<PriceChoice, 'size' | 'quality'>;

/** Types of files that images are made in. */
export const OUTPUT_FORMATS = ['png', 'jpeg', 'webp'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
/** The most images of one call, and those that one edit takes, of any model. */
export const MAX_IMAGES_OF_CALL = 10;
export const MAX_EDIT_IMAGES = 16;

/**
 * The price of an image of this quality and size. The constants of its row are what the provider gets, whatever the caller
 * wants. A size that nobody names is the provider's choice: it costs the flat price, or the dearest of a quality that the
 * caller chooses.
 */
export function unitPriceOfImage(
  { price, terms }: { readonly price: PerRequest; readonly terms?: UpstreamTerms | undefined },
  wanted: ImageChoice,
): MicroUsd {
  const { quality = wanted.quality, size = wanted.size } = terms?.constants ?? {};
  const ofQuality = price.byQualitySize?.filter((row) => row.quality === quality) ?? [];
  const known = ofQuality.find((row) => row.size === size);
  if (known) return known.microUsd;
  const isFlat = wanted.quality === undefined || size !== undefined || ofQuality.length === 0;
  if (isFlat) return price.microUsd;
  return ofQuality.reduce((most, { microUsd }) => (microUsd > most ? microUsd : most), 0n);
}

/** The price of an image for which a caller chooses nothing. */
export function usualPriceOfImage(
  price: PerRequest,
  { limits, terms }: { readonly limits: object; readonly terms?: UpstreamTerms | undefined },
): MicroUsd {
  const [quality] = (limits as Partial<Limits>).qualities ?? [];
  return unitPriceOfImage({ price, terms }, { quality });
}

/** The parts of a row that its choices depend on. */
interface ImageRow {
  readonly price: PerRequest;
  readonly terms?: UpstreamTerms | undefined;
  readonly limits: Pick<Limits, 'sizes'> &
    Partial<Pick<Limits, 'qualities' | 'backgrounds' | 'outputFormats'>>;
}

/**
 * What is wrong with the choices of a row, each as a sentence that names the field: a quality that the caller may choose
 * and that has no price at a size of the row, or that a constant replaces.
 */
export function faultsOfImageChoices({ limits, terms, price }: ImageRow): string[] {
  const { qualities, sizes } = limits;
  const choices = {
    qualities,
    backgrounds: limits.backgrounds,
    output_formats: limits.outputFormats,
  };
  const fieldOf = {
    qualities: 'quality',
    backgrounds: 'background',
    output_formats: 'output_format',
  };
  const replaced = (Object.keys(choices) as (keyof typeof choices)[])
    .filter((name) => choices[name] !== undefined && hidesField(terms, fieldOf[name]))
    .map(
      (name) =>
        `limits.${name} must not stand beside a constant ${fieldOf[name]}, or where that is dropped`,
    );
  if (replaced.length > 0 || qualities === undefined) return replaced;
  const { size: own } = terms?.constants ?? {};
  return qualities.flatMap((quality) =>
    (typeof own === 'string' ? [own] : sizes)
      .filter(
        (size) => !price.byQualitySize?.some((row) => row.quality === quality && row.size === size),
      )
      .map(
        (size) =>
          `price.by_quality_size has no price for quality ${quality}, size ${size}, which limits let callers choose`,
      ),
  );
}
