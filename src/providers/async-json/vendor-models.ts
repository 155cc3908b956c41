import { isDeepStrictEqual } from 'node:util';
import {
  checkOf,
  eitherOf,
  formed,
  holding,
  listed,
  shaped,
  type VendorCheck,
  wholeUpTo,
} from './vendor-checks.js';
import type { VendorOperation } from './vendor-fields.js';
import {
  operationOf,
  type VendorFile,
  type VendorLimits,
  type VendorModel,
} from './vendor-file.js';
import { fieldsIn } from './vendor-template.js';
import { vendorRowFaults } from './vendor-rows.js';

const MAX_MODELS = 100;
const MAX_SIZES = 100;
const MAX_IMAGES_OF_CALL = 10;
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

const LIMITS: Readonly<Record<VendorOperation, VendorCheck>> = {
  video: shaped({
    max_image_urls: checkImages,
    'resolutions?': checkChoices,
    'aspect_ratios?': checkChoices,
    'audio?': holding((value) => typeof value === 'boolean', 'true or false', { type: 'boolean' }),
    'frames?': checkFrames,
  }),
  image: shaped({
    sizes: listed(formed(/^\S.{0,199}$/, 'a text of at most 200 characters'), MAX_SIZES),
    'qualities?': checkChoices,
    'backgrounds?': checkChoices,
    'output_formats?': listed(eitherOf(['png', 'jpeg', 'webp']), 3),
    'max_n?': wholeUpTo(MAX_IMAGES_OF_CALL),
  }),
  composition: shaped({}),
};
const ANY_LIMITS = { anyOf: Object.values(LIMITS).map(({ schema }) => schema) };

/** Checks the models that a file of the operation offers. Its schema is that of all operations. */
export const checkModels = (operation: VendorOperation): VendorCheck =>
  listed(
    shaped({
      id: formed(/^[a-z][a-z0-9.-]{0,99}$/, 'lowercase letters, digits, dots and hyphens'),
      upstream_model: formed(/^\S(.{0,198}\S)?$/, 'the name of the model at the vendor'),
      limits: checkOf(ANY_LIMITS, LIMITS[operation]),
    }),
    MAX_MODELS,
  );

/** What of a file's models its own bodies do not take, and ids that stand twice. */
export function modelFaults(file: VendorFile): string[] {
  const { models = [] } = file;
  return models.flatMap((model, index) => {
    const isTwice = models.findIndex(({ id }) => id === model.id) < index;
    const faults = vendorRowFaults(file, soldBy(file, model));
    return [
      ...(isTwice ? [`models.${index}.id: ${model.id} is listed twice`] : []),
      ...faults.map((fault) => `models.${index}: ${fault}`),
    ];
  });
}

/** The row without its price, before anybody has given it one. */
function soldBy(file: VendorFile, model: VendorModel): Parameters<typeof vendorRowFaults>[1] {
  const { upstream_model: upstreamModel } = model;
  const offered = offeredBy(file, model);
  switch (offered.operation) {
    case 'video':
      return { ...offered, upstreamModel, price: { microUsdBySeconds: {} } };
    case 'image':
      return { ...offered, upstreamModel, price: {} };
    case 'composition': {
      const isBySecond = fieldsIn(file.submit.body).includes('seconds');
      const price = { unit: isBySecond ? 'requested_second' : 'request' } as const;
      return { ...offered, upstreamModel, price };
    }
  }
}

/** A model that is sold once it has a price. */
export type OfferedModel = {
  readonly id: string;
  readonly routes: readonly { readonly provider: string; readonly upstreamModel: string }[];
  readonly enabled: true;
} & (
  | {
      readonly operation: 'video';
      readonly limits: {
        readonly maxImageUrls: number;
        readonly resolutions?: readonly string[];
        readonly aspectRatios?: readonly string[];
        readonly audio?: boolean;
        readonly frames?: readonly ('first' | 'last')[];
      };
    }
  | {
      readonly operation: 'image';
      readonly limits: {
        readonly sizes: readonly string[];
        readonly qualities?: readonly string[];
        readonly backgrounds?: readonly string[];
        readonly outputFormats?: readonly ('png' | 'jpeg' | 'webp')[];
        readonly maxN?: number;
      };
    }
  | { readonly operation: 'composition'; readonly limits: Readonly<Record<string, never>> }
);

/** The models that the vendors offer, by their ids; and the ids that more than one of them has. */
export function offeredModels(vendors: Iterable<VendorFile>): {
  readonly models: ReadonlyMap<string, OfferedModel>;
  readonly twice: readonly string[];
} {
  const all = [...vendors].flatMap((file) =>
    (file.models ?? []).map((model) => offeredBy(file, model)),
  );
  const models = new Map(all.map((model) => [model.id, model]));
  const twice = all.filter((model) => !isDeepStrictEqual(models.get(model.id), model));
  return { models, twice: twice.map(({ id }) => id) };
}

function offeredBy(
  file: VendorFile,
  { id, upstream_model: name, limits }: VendorModel,
): OfferedModel {
  const routes = [{ provider: file.id, upstreamModel: name }];
  const offered = { id, routes, enabled: true } as const;
  const operation = operationOf(file);
  // The check of the file has seen that the limits are those of its operation.
  switch (operation) {
    case 'video':
      return { ...offered, operation, limits: videoLimits(limits as VendorLimits['video']) };
    case 'image':
      return { ...offered, operation, limits: imageLimits(limits as VendorLimits['image']) };
    case 'composition':
      return { ...offered, operation, limits: {} };
  }
}

function videoLimits(limits: VendorLimits['video']) {
  const { resolutions, aspect_ratios: aspectRatios, audio, frames } = limits;
  return {
    maxImageUrls: limits.max_image_urls,
    ...(resolutions && { resolutions }),
    ...(aspectRatios && { aspectRatios }),
    ...(audio !== undefined && { audio }),
    ...(frames && { frames }),
  };
}

function imageLimits(limits: VendorLimits['image']) {
  const { sizes, qualities, backgrounds, output_formats: outputFormats, max_n: maxN } = limits;
  return {
    sizes,
    ...(qualities && { qualities }),
    ...(backgrounds && { backgrounds }),
    ...(outputFormats && { outputFormats }),
    ...(maxN !== undefined && { maxN }),
  };
}
