import { open } from 'node:fs/promises';
import type { Request, Response } from 'express';
import type { MulterError } from 'multer';
import { MAX_EDIT_IMAGES } from '../catalog/image-choices.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { MEDIA_LIMIT_BYTES } from '../platform/http-client/download.js';
import type { MediaFile } from '../providers/ports/audio.port.js';
import { IMAGE_SIGNATURE_BYTES, imageTypeOf, type ImageType } from './image-types.js';
import { UNREADABLE_PART } from './form-body.js';
import {
  type FormRules,
  invalidForm,
  longField,
  type ParsedForm,
  parseForm,
  repeatedField,
} from './parsed-form.js';
import type { SpooledFiles, SpoolReservation } from './spool.js';
import type { TempFolder } from './temp-folder.js';
import type { TextForm } from './text-form.js';

/** The fields that take files. SDKs send several images under the name with brackets. */
const IMAGE_FIELDS = ['image', 'image[]'];
const MASK_FIELD = 'mask';
const FRAMING_BYTES = 65_536;
const LIMITS = {
  files: MAX_EDIT_IMAGES + 1,
  fileSize: MEDIA_LIMIT_BYTES,
  fields: 24,
  // A prompt of 32,000 characters of up to four bytes.
  fieldSize: 128_000,
  fieldNameSize: 100,
  fieldNestingDepth: 1,
  fieldArrayIndexLimit: 0,
  parts: 48,
  headerPairs: 20,
};
/** The largest form within all other limits: its files have as many bytes as one may have. */
const BODY_LIMIT_BYTES = MEDIA_LIMIT_BYTES + LIMITS.fields * LIMITS.fieldSize + FRAMING_BYTES;

/** The kinds of images that a caller may upload. */
const UPLOADED = ['image/png', 'image/jpeg', 'image/webp'];

/** A form of images as it was sent. Whoever has it removes the files. */
export interface ImageForm {
  readonly fields: TextForm;
  readonly files: SpooledFiles;
  readonly images: readonly MediaFile[];
  readonly mask: MediaFile | undefined;
}

/**
 * Reads a multipart form of images; the files are streamed to disk. Throws GatewayError as soon as a fault is seen, without
 * reading further, and leaves no file behind: the refusals of `openReservation` and of the reservation, `request_too_large`
 * for more than 50 MB in all, `invalid_multipart` for a broken form, too many files, a file in another field or a repeated
 * text, `invalid_request` for a file that is no PNG, JPEG or WebP by its bytes.
 */
export async function readImageForm(
  request: Request,
  response: Response,
  folder: TempFolder,
  openReservation: (expectedBytes?: number) => SpoolReservation,
): Promise<ImageForm> {
  const { 'content-length': length } = request.headers;
  const declaredBytes = length === undefined ? undefined : Number(length);
  if (declaredBytes !== undefined && declaredBytes > BODY_LIMIT_BYTES) throw tooLarge();
  const reservation = openReservation(declaredBytes);
  let files: SpooledFiles | undefined;
  try {
    const form = await parseForm(request, response, { folder, reservation }, RULES);
    const { images, masks } = filesOf(form);
    files = reservation.filledAll(
      [...images, ...masks].map(({ path, size }) => ({ path, sizeBytes: size })),
    );
    const fields = textsOf(form);
    if (sizeOf(files) > MEDIA_LIMIT_BYTES) throw tooLarge();
    const [mask] = await mediaOf(masks, MASK_FIELD);
    return { fields, files, images: await mediaOf(images, 'image'), mask };
  } catch (error) {
    if (files) await files.remove();
    else reservation.free();
    throw error;
  }
}

const RULES: FormRules = {
  limits: LIMITS,
  bodyLimitBytes: BODY_LIMIT_BYTES,
  files: (form) =>
    form.fields([
      ...IMAGE_FIELDS.map((name) => ({ name, maxCount: MAX_EDIT_IMAGES })),
      { name: MASK_FIELD, maxCount: 1 },
    ]),
  tooLarge,
  unnamedFile,
  limitFault,
};

type Part = Express.Multer.File;

function filesOf(form: ParsedForm): { images: readonly Part[]; masks: readonly Part[] } {
  const { files = {} } = form;
  const images = IMAGE_FIELDS.flatMap((name) => files[name] ?? []);
  return { images, masks: files[MASK_FIELD] ?? [] };
}

/** Multer makes a list of a repeated name; no field here is one. */
function textsOf(form: ParsedForm): TextForm {
  if (!form.isWhole()) throw invalidForm(UNREADABLE_PART);
  const { body = {} } = form;
  const repeated = Object.keys(body).find((name) => {
    const value = body[name];
    return Array.isArray(value) && value.length > 1;
  });
  if (repeated === undefined) return body as TextForm;
  throw repeatedField(repeated);
}

async function mediaOf(parts: readonly Part[], field: string): Promise<MediaFile[]> {
  const media: MediaFile[] = [];
  for (const [index, { path, size: sizeBytes }] of parts.entries()) {
    const type = await typeOf(path);
    if (type === undefined || !UPLOADED.includes(type.mediaType)) throw noImage(field, index);
    const filename = `${field}-${index + 1}.${type.extension}`;
    media.push({ path, sizeBytes, contentType: type.mediaType, filename });
  }
  return media;
}

async function typeOf(path: string): Promise<ImageType | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(IMAGE_SIGNATURE_BYTES));
    return imageTypeOf(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

const sizeOf = ({ files }: SpooledFiles): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

function limitFault(error: MulterError): GatewayError {
  const { code, field = '' } = error;
  if (code === 'LIMIT_FILE_SIZE') return tooLarge();
  if (code === 'LIMIT_FIELD_VALUE') return longField(field);
  if (code !== 'LIMIT_UNEXPECTED_FILE' && code !== 'LIMIT_FILE_COUNT') {
    return invalidForm(`The multipart form is refused: ${error.message}.`, error);
  }
  const isKnown = code === 'LIMIT_FILE_COUNT' || [...IMAGE_FIELDS, MASK_FIELD].includes(field);
  const message = isKnown
    ? `The form has too many files: at most ${MAX_EDIT_IMAGES} images and one mask.`
    : `${field} must not be a file: images are sent in the field image, a mask in mask.`;
  return new GatewayError('invalid_multipart', message, { param: field || 'image' });
}

/** The error for a part without a filename that is not a valid text. */
function unnamedFile(name: string): GatewayError {
  const message = `${name || 'A part'} must be sent as a file part, with a filename.`;
  return new GatewayError('invalid_multipart', message, { param: name || null });
}

function noImage(field: string, index: number): GatewayError {
  const which = field === MASK_FIELD ? field : `${field}.${index}`;
  const message = `${which} must be a PNG, a JPEG or a WebP file.`;
  return new GatewayError('invalid_request', message, { param: field });
}

function tooLarge(): GatewayError {
  const message = `The images of a form may have at most ${MEDIA_LIMIT_BYTES} bytes in all.`;
  return new GatewayError('request_too_large', message, { param: 'image' });
}
