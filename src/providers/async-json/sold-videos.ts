import type { UpstreamTerms } from '../ports/attempt.js';
import type { Selling } from './row-check.js';
import type { VendorField } from './vendor-fields.js';
import type { VendorValues } from './vendor-template.js';

/** What a model of videos sells over one route, as its row has it. */
export interface SoldVideos {
  readonly operation: 'video';
  readonly upstreamModel: string;
  readonly terms?: UpstreamTerms | undefined;
  readonly price: {
    readonly microUsdBySeconds: Readonly<Record<string, bigint>>;
    readonly perSecond?: readonly unknown[];
  };
  readonly limits: {
    readonly sizePattern?: string | undefined;
    readonly resolutions?: readonly string[] | undefined;
    readonly aspectRatios?: readonly string[] | undefined;
    readonly audio?: boolean | undefined;
    readonly frames?: readonly string[] | undefined;
    readonly maxImageUrls?: number | undefined;
  };
}

/** Where a row lists what callers may choose of a field. */
const LISTED_IN: Readonly<Partial<Record<VendorField, string>>> = {
  seconds: 'price.by_seconds',
  size: 'limits.size_pattern',
  resolution: 'limits.resolutions',
  aspect_ratio: 'limits.aspect_ratios',
  audio: 'limits.audio',
  first_frame_url: 'limits.frames',
  last_frame_url: 'limits.frames',
  image_urls: 'limits.max_image_urls',
};
/** A constant of these names chooses the price, where that is per second. */
const PRICED_CONSTANTS: Readonly<Record<string, VendorField>> = {
  resolution: 'resolution',
  audio: 'audio',
  sound: 'audio',
};
const SAMPLE_URL = 'https://images.example/a.png';

/** What callers may ask of the model, and what they pay for. */
export function sellingOfVideos(row: SoldVideos): Selling {
  const { price, terms } = row;
  const isPerSecond = price.perSecond !== undefined;
  // A single length may be that of every video of the vendor.
  const isLengthChosen = Object.keys(price.microUsdBySeconds).length > 1 || isPerSecond;
  const listed = listedBy(row);
  const constants = Object.entries(PRICED_CONSTANTS).filter(
    ([, field]) => isPerSecond && !listed.includes(field),
  );
  return {
    terms,
    asked: askedOf(row),
    listedIn: LISTED_IN,
    listed,
    needed: isLengthChosen ? ['seconds'] : [],
    priced: isPerSecond ? ['seconds', 'resolution', 'audio'] : ['seconds'],
    pricedConstants: Object.fromEntries(constants),
    ofPattern: 'size',
  };
}

/** With each of the images, and each value of the row. */
function askedOf(row: SoldVideos): VendorValues[] {
  const { sizePattern, resolutions, aspectRatios, audio } = row.limits;
  const lengths = Object.keys(row.price.microUsdBySeconds);
  const usual: VendorValues = {
    model: row.upstreamModel,
    prompt: 'The sea',
    seconds: lengths[0],
    resolution: resolutions?.[0],
    audio: audio === true ? false : undefined,
  };
  const choices: VendorValues[] = [
    {},
    ...lengths.map((seconds) => ({ seconds })),
    ...(sizePattern === undefined ? [] : [{ size: '1280x720' }]),
    ...(resolutions ?? []).map((resolution) => ({ resolution })),
    ...(aspectRatios ?? []).map((ratio) => ({ aspect_ratio: ratio })),
    ...(audio === true ? [{ audio: true }] : []),
  ];
  return imagesOf(row).flatMap((images) =>
    choices.map((choice): VendorValues => ({ ...usual, ...images, ...choice })),
  );
}

function imagesOf({ limits: { frames = [], maxImageUrls = 0 } }: SoldVideos): VendorValues[] {
  const first = { first_frame_url: SAMPLE_URL };
  return [
    {},
    ...(frames.includes('first') ? [first] : []),
    ...(frames.includes('last') ? [{ ...first, last_frame_url: SAMPLE_URL }] : []),
    ...(maxImageUrls > 0 ? [{ image_urls: [SAMPLE_URL] }] : []),
  ];
}

function listedBy({ limits }: SoldVideos): VendorField[] {
  const isListed: Readonly<Partial<Record<VendorField, boolean>>> = {
    size: limits.sizePattern !== undefined,
    resolution: limits.resolutions !== undefined,
    aspect_ratio: limits.aspectRatios !== undefined,
    audio: limits.audio === true,
    first_frame_url: limits.frames?.includes('first') ?? false,
    last_frame_url: limits.frames?.includes('last') ?? false,
    image_urls: (limits.maxImageUrls ?? 0) > 0,
  };
  return (Object.keys(LISTED_IN) as VendorField[]).filter((field) => isListed[field] === true);
}
