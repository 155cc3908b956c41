import type { JsonObject } from '../../common/json-object.js';
import type { UpstreamTerms } from '../ports/attempt.js';
import type { VendorField, VendorFile } from './vendor-file.js';
import { clashOf, leftOut, NO_IMAGE, submitOf } from './vendor-submit.js';
import { fieldsIn, filledTemplate, UnfitValue, type VendorValues } from './vendor-template.js';

/** What a model of videos sells over one route, as its row has it. */
export interface SoldVideos {
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
/** A constant of these names chooses the price, and has to reach the vendor as the field. */
const PRICED_CONSTANTS: Readonly<Record<string, VendorField>> = {
  resolution: 'resolution',
  audio: 'audio',
  sound: 'audio',
};
const SAMPLE_URL = 'https://images.example/a.png';

/**
 * What of a row the file of its vendor cannot serve: one line for each field that the row lists and the body does not take, and
 * for each of the row's terms that changes what was priced. Each begins with the field of the row.
 */
export function vendorRowFaults(vendor: VendorFile, row: SoldVideos): string[] {
  return [...choiceFaults(vendor, row), ...termFaults(vendor, row)];
}

function choiceFaults(vendor: VendorFile, row: SoldVideos): string[] {
  const faults = new Map<string, string>();
  for (const values of askedOf(vendor, row)) {
    for (const [field, says] of faultsOf(vendor, row, values)) {
      const listed = LISTED_IN[field] ?? field;
      if (!faults.has(listed)) {
        faults.set(listed, `${listed}: ${says} the file of provider ${vendor.id}`);
      }
    }
  }
  return [...faults.values()];
}

/** What is not taken of one request, each with its field. */
function faultsOf(
  vendor: VendorFile,
  row: SoldVideos,
  values: VendorValues,
): (readonly [VendorField, string])[] {
  try {
    const { body } = submitOf(vendor, values, row.terms);
    const { written } = filledTemplate(body, values, () => NO_IMAGE);
    const missing = [...leftOut(written, values), ...missingSeconds(row, written)];
    return missing.map((field) => [field, `${field} is in no body of`]);
  } catch (error) {
    if (!(error instanceof UnfitValue)) throw error;
    const { field } = error;
    // A pattern tells no values that a table could lack.
    if (field === 'size') return [];
    return [[field, `${field} ${String(values[field])} is not taken by`]];
  }
}

/** A single length may be that of every video of the vendor. */
function missingSeconds(
  { price }: SoldVideos,
  written: ReadonlySet<VendorField>,
): readonly VendorField[] {
  const isChosen = Object.keys(price.microUsdBySeconds).length > 1;
  const isNeeded = isChosen || price.perSecond !== undefined;
  return isNeeded && !written.has('seconds') ? ['seconds'] : [];
}

/**
 * Requests in which each value that callers may choose is there at least once, with each of the images. Those that the file itself
 * excludes are refused when they come.
 */
function askedOf(vendor: VendorFile, row: SoldVideos): VendorValues[] {
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
  const asked = imagesOf(row).flatMap((images) =>
    choices.map((choice): VendorValues => ({ ...usual, ...images, ...choice })),
  );
  return asked.filter(
    (values) => clashOf(submitOf(vendor, values, row.terms), values, row.terms).length === 0,
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

/**
 * What the terms of a row do to each body in which its requests are sent: they act on the uppermost fields. A constant that chooses
 * the price has to be in all of these bodies, and what callers pay for must be changed in none.
 */
function termFaults(vendor: VendorFile, row: SoldVideos): string[] {
  const requests = askedOf(vendor, row);
  const bodies = new Set(requests.map((values) => submitOf(vendor, values, row.terms).body));
  return [...new Set([...bodies].flatMap((body) => faultsInBody(vendor, row, body)))];
}

function faultsInBody(vendor: VendorFile, row: SoldVideos, body: JsonObject): string[] {
  const { drop = [], rename = {}, constants = {} } = row.terms ?? {};
  const held = new Map(Object.entries(body).map(([key, part]) => [key, fieldsIn(part)]));
  const holds = (key: string, field: VendorField): boolean =>
    held.get(key)?.includes(field) ?? false;
  const priced = pricedFields(row);
  const changed = (key: string): VendorField | undefined =>
    priced.find((field) => holds(key, field));
  const told = (at: string, field: VendorField | undefined): string[] =>
    field === undefined ? [] : [`${at}: changes ${field}, which callers pay for, at ${vendor.id}`];
  return [
    ...drop.flatMap((key) => told(`drop: ${key}`, changed(key))),
    ...Object.entries(rename).flatMap(([from, to]) =>
      told(`rename.${from}`, changed(from) ?? changed(to)),
    ),
    ...Object.keys(constants).flatMap((key) => {
      const chosen = Object.hasOwn(PRICED_CONSTANTS, key) ? PRICED_CONSTANTS[key] : undefined;
      const isPrice = chosen !== undefined && row.price.perSecond !== undefined;
      if (!isPrice || isListed(row, chosen)) return told(`constants.${key}`, changed(key));
      const says = `is priced, and the file of provider ${vendor.id} does not send it as ${chosen}`;
      return holds(key, chosen) ? [] : [`constants.${key}: ${says}`];
    }),
  ];
}

/** What the price of a video depends on, and what its callers may choose beside it. */
function pricedFields(row: SoldVideos): VendorField[] {
  const byPrice: VendorField[] = ['seconds'];
  if (row.price.perSecond) byPrice.push('resolution', 'audio');
  const listed = (Object.keys(LISTED_IN) as VendorField[]).filter((field) => isListed(row, field));
  return [...new Set([...byPrice, ...listed])];
}

function isListed({ limits }: SoldVideos, field: VendorField): boolean {
  const listed: Readonly<Partial<Record<VendorField, boolean>>> = {
    size: limits.sizePattern !== undefined,
    resolution: limits.resolutions !== undefined,
    aspect_ratio: limits.aspectRatios !== undefined,
    audio: limits.audio === true,
    first_frame_url: limits.frames?.includes('first') ?? false,
    last_frame_url: limits.frames?.includes('last') ?? false,
    image_urls: (limits.maxImageUrls ?? 0) > 0,
  };
  return listed[field] ?? false;
}
