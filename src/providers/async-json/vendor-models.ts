import { isDeepStrictEqual } from 'node:util';
import { checkOf, formed, holding, listed, shaped, type VendorCheck } from './vendor-checks.js';
import type { VendorFile, VendorModel } from './vendor-file.js';
import { vendorRowFaults } from './vendor-rows.js';

const MAX_MODELS = 100;
const FRAMES = [['first'], ['first', 'last']] as const;

const checkChoices = listed(formed(/^\S.{0,31}$/, 'a text of at most 32 characters'), 20);
const checkFrames: VendorCheck = checkOf({ enum: FRAMES }, (value, at, faults) => {
  if (!FRAMES.some((frames) => JSON.stringify(frames) === JSON.stringify(value))) {
    faults.push(`${at}: must be ["first"] or ["first", "last"]`);
  }
});
const checkImages = holding(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 100,
  'a whole number from 0 to 100',
  { type: 'integer', minimum: 0, maximum: 100 },
);

/** Checks the models that a file offers. */
export const checkModels = listed(
  shaped({
    id: formed(/^[a-z][a-z0-9.-]{0,99}$/, 'lowercase letters, digits, dots and hyphens'),
    upstream_model: formed(/^\S(.{0,198}\S)?$/, 'the name of the model at the vendor'),
    limits: shaped({
      max_image_urls: checkImages,
      'resolutions?': checkChoices,
      'aspect_ratios?': checkChoices,
      'audio?': holding((value) => typeof value === 'boolean', 'true or false', {
        type: 'boolean',
      }),
      'frames?': checkFrames,
    }),
  }),
  MAX_MODELS,
);

/** What of a file's models its own bodies do not take, and ids that stand twice. */
export function modelFaults(file: VendorFile): string[] {
  const { models = [] } = file;
  return models.flatMap((model, index) => {
    const isTwice = models.findIndex(({ id }) => id === model.id) < index;
    const row = { ...offeredBy(file.id, model), price: { microUsdBySeconds: {} } };
    const faults = vendorRowFaults(file, { ...row, upstreamModel: model.upstream_model });
    return [
      ...(isTwice ? [`models.${index}.id: ${model.id} is listed twice`] : []),
      ...faults.map((fault) => `models.${index}: ${fault}`),
    ];
  });
}

/** A model of videos that is sold once it has a price. */
export interface OfferedModel {
  readonly id: string;
  readonly operation: 'video';
  readonly routes: readonly { readonly provider: string; readonly upstreamModel: string }[];
  readonly limits: {
    readonly maxImageUrls: number;
    readonly resolutions?: readonly string[];
    readonly aspectRatios?: readonly string[];
    readonly audio?: boolean;
    readonly frames?: readonly ('first' | 'last')[];
  };
  readonly enabled: true;
}

/** The models that the vendors offer, by their ids; and the ids that more than one of them has. */
export function offeredModels(vendors: Iterable<VendorFile>): {
  readonly models: ReadonlyMap<string, OfferedModel>;
  readonly twice: readonly string[];
} {
  const all = [...vendors].flatMap(({ id, models = [] }) =>
    models.map((model) => offeredBy(id, model)),
  );
  const models = new Map(all.map((model) => [model.id, model]));
  const twice = all.filter((model) => !isDeepStrictEqual(models.get(model.id), model));
  return { models, twice: twice.map(({ id }) => id) };
}

function offeredBy(
  provider: string,
  { id, upstream_model: name, limits }: VendorModel,
): OfferedModel {
  const { resolutions, aspect_ratios: aspectRatios, audio, frames } = limits;
  return {
    id,
    operation: 'video',
    routes: [{ provider, upstreamModel: name }],
    limits: {
      maxImageUrls: limits.max_image_urls,
      ...(resolutions && { resolutions }),
      ...(aspectRatios && { aspectRatios }),
      ...(audio !== undefined && { audio }),
      ...(frames && { frames }),
    },
    enabled: true,
  };
}
