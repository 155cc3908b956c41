import type { JsonObject } from '../../common/json-object.js';
import type { InlineImage } from '../http/inline-images.js';
import type { UpstreamTerms } from '../ports/attempt.js';
import type { VendorField } from './vendor-fields.js';
import { fitsCode, type VendorFile } from './vendor-file.js';
import { fieldsIn, filledTemplate, UnfitValue, type VendorValues } from './vendor-template.js';

/** What changes what is made, and is not in every model. */
const CHOICES: readonly VendorField[] = [
  'size',
  'aspect_ratio',
  'resolution',
  'audio',
  'first_frame_url',
  'last_frame_url',
  'image_urls',
  'count',
  'quality',
  'background',
  'output_format',
  'output_compression',
  'lyrics',
  'instrumental',
];
/** What vendors do where they are not told. */
const USUAL: VendorValues = { count: 1, instrumental: false };
/** Stands for an image until it is fetched. */
export const NO_IMAGE: InlineImage = {
  data: Buffer.alloc(0),
  contentType: 'image/png',
  token: 'image',
};

/** How a job is submitted, and by which fields of the request that was chosen. */
export interface VendorSubmit extends Pick<
  VendorFile['submit'],
  'variant' | 'path' | 'body' | 'not_together'
> {
  readonly has?: readonly VendorField[];
}

/**
 * How a job with these values is submitted: what the first variant that fits says comes before what the file says of all. A constant
 * of the row that stands in the body of a variant in place of a field counts as that field.
 */
export function submitOf(
  { submit }: Pick<VendorFile, 'submit'>,
  values: VendorValues,
  terms: UpstreamTerms | undefined,
): VendorSubmit {
  const { variant, path, body, not_together: apart, variants = [] } = submit;
  const fitting = variants.find(({ models, has, body: own = body }) => {
    const isGiven = (field: VendorField): boolean =>
      values[field] !== undefined || isSetIn(own, field, terms);
    const isOfModel = models?.some((form) => fitsCode(form, String(values.model))) ?? true;
    return isOfModel && (has?.some(isGiven) ?? true);
  });
  return {
    ...(variant !== undefined && { variant }),
    ...(apart && { not_together: apart }),
    path,
    body,
    ...fitting,
  };
}

/** Whether a constant stands in the body where the field alone would. The terms of a row act on the uppermost keys. */
function isSetIn(
  body: JsonObject,
  field: VendorField,
  { constants = {}, rename = {} }: UpstreamTerms = {},
): boolean {
  return Object.entries(body).some(([key, part]) => {
    const sentAs = Object.hasOwn(rename, key) ? (rename[key] ?? key) : key;
    const held = fieldsIn(part);
    const isOfField = held.length > 0 && held.every((one) => one === field);
    return isOfField && Object.hasOwn(constants, sentAs);
  });
}

/** The choices of the caller that a body lacks: what is made would not be what was asked for. */
export function leftOut(
  written: ReadonlySet<VendorField>,
  values: VendorValues,
): readonly VendorField[] {
  // Both sides are the size.
  const isWritten = (field: VendorField): boolean =>
    written.has(field) || (field === 'size' && written.has('width') && written.has('height'));
  return CHOICES.filter((field) => {
    const { [field]: value } = values;
    return value !== undefined && value !== USUAL[field] && !isWritten(field);
  });
}

/** The first fields of `not_together` that are all given, by the caller or by a constant of the row; empty where none are. */
export function clashOf(
  { body, not_together: apart = [] }: Pick<VendorSubmit, 'body' | 'not_together'>,
  values: VendorValues,
  terms: UpstreamTerms | undefined,
): readonly VendorField[] {
  const isGiven = (field: VendorField): boolean =>
    values[field] !== undefined || isSetIn(body, field, terms);
  return apart.find((fields) => fields.every(isGiven)) ?? [];
}

/**
 * The fields of a request that cannot be sent as they are: two that exclude each other, a value that a table or a cast does not take,
 * or what the chosen body leaves out, with the fields by which it was chosen. Empty: all is sent.
 */
export function untakenFields(
  file: Pick<VendorFile, 'submit'>,
  values: VendorValues,
  terms: UpstreamTerms | undefined,
): readonly VendorField[] {
  const chosen = submitOf(file, values, terms);
  const clash = clashOf(chosen, values, terms);
  if (clash.length > 0) return clash;
  try {
    const { written } = filledTemplate(chosen.body, values, () => NO_IMAGE);
    const missing = leftOut(written, values);
    const { has: by = [] } = chosen;
    return missing.length === 0
      ? []
      : [...missing, ...by.filter((field) => values[field] !== undefined)];
  } catch (error) {
    if (!(error instanceof UnfitValue)) throw error;
    return [error.field];
  }
}
