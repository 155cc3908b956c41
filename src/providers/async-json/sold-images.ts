import type { UpstreamTerms } from '../ports/attempt.js';
import { imageValuesOf } from './async-json-images.adapter.js';
import type { Selling } from './row-check.js';
import type { VendorField } from './vendor-fields.js';

/** What a model of images sells over one route, as its row has it. */
export interface SoldImages {
  readonly operation: 'image';
  readonly upstreamModel: string;
  readonly terms?: UpstreamTerms | undefined;
  readonly price: { readonly byQualitySize?: readonly unknown[] };
  readonly limits: {
    readonly sizes: readonly string[];
    readonly qualities?: readonly string[];
    readonly backgrounds?: readonly string[];
    readonly outputFormats?: readonly string[];
    readonly maxN?: number;
    readonly maxEditImages?: number;
  };
}

/** Where a row lists what callers may choose of a field. */
const LISTED_IN: Readonly<Partial<Record<VendorField, string>>> = {
  size: 'limits.sizes',
  count: 'limits.max_n',
  quality: 'limits.qualities',
  background: 'limits.backgrounds',
  output_format: 'limits.output_formats',
};

/** What callers may ask of the model, and what they pay for. */
export function sellingOfImages(row: SoldImages): Selling {
  const { qualities, backgrounds, outputFormats } = row.limits;
  const isChosen = row.price.byQualitySize !== undefined;
  const listed: VendorField[] = ['size', 'width', 'height'];
  if (qualities) listed.push('quality');
  if (backgrounds) listed.push('background');
  if (outputFormats) listed.push('output_format', 'output_compression');
  return {
    terms: row.terms,
    asked: askedOf(row),
    listedIn: LISTED_IN,
    listed,
    needed: [],
    priced: ['count'],
    pricedConstants: isChosen ? { size: 'size', ...(!qualities && { quality: 'quality' }) } : {},
  };
}

function askedOf({ upstreamModel, limits }: SoldImages) {
  const { sizes, qualities = [], backgrounds = [], outputFormats = [], maxN = 1 } = limits;
  const usual = { prompt: 'The sea', quality: qualities[0], count: 1 };
  const choices: Partial<Parameters<typeof imageValuesOf>[0]>[] = [
    {},
    ...sizes.map((size) => ({ size })),
    ...qualities.map((quality) => ({ quality })),
    ...backgrounds.map((background) => ({ background })),
    ...outputFormats.map((outputFormat) => ({ outputFormat })),
    { count: maxN },
  ];
  return choices.map((choice) => imageValuesOf({ ...usual, ...choice }, { upstreamModel }));
}
