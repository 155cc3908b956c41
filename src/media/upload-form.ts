import type { Request, Response } from 'express';
import type { MulterError } from 'multer';
import { GatewayError } from '../common/errors/gateway-error.js';
import { MEDIA_LIMIT_BYTES } from '../platform/http-client/download.js';
import { UNREADABLE_PART } from './form-body.js';
import {
  type FormRules,
  invalidForm,
  longField,
  type ParsedForm,
  parseForm,
  repeatedField,
} from './parsed-form.js';
import type { SpooledFile, SpoolReservation } from './spool.js';
import type { TempFolder } from './temp-folder.js';
import type { TextForm } from './text-form.js';
import { Upload } from './upload.js';

/** The only field that takes a file (API: Recordings). */
export const FILE_FIELD = 'file';

/** Limits of a form. The longest field is alignment text: 100,000 characters of up to four bytes. */
export const FORM_LIMITS = {
  files: 1,
  fileSize: MEDIA_LIMIT_BYTES,
  fields: 24,
  fieldSize: 400_000,
  fieldNameSize: 100,
  fieldNestingDepth: 1,
  fieldArrayIndexLimit: 0,
  parts: 32,
  headerPairs: 20,
} as const;

const FRAMING_BYTES = 65_536;
/** The largest form within all other limits, with its part headers. */
const BODY_LIMIT_BYTES =
  FORM_LIMITS.fileSize + FORM_LIMITS.fields * FORM_LIMITS.fieldSize + FRAMING_BYTES;

/** A form as it was sent: text fields by name, and its file. */
export interface UploadForm {
  readonly fields: TextForm;
  readonly upload: Upload | undefined;
}

/**
 * Reads a multipart form; the file is streamed to disk. Throws GatewayError as soon as a fault is seen, without reading
 * further, and leaves no file behind: the refusals of `openReservation` and of the reservation,
 * `request_too_large`, or `invalid_multipart` for a broken form, a repeated field that is no list, a second file or a
 * file outside `file` (decisions G-41, G-42).
 */
export async function readUploadForm(
  request: Request,
  response: Response,
  folder: TempFolder,
  openReservation: (expectedBytes?: number) => SpoolReservation,
  isList: (field: string) => boolean = () => false,
): Promise<UploadForm> {
  const { 'content-length': length } = request.headers;
  const declaredBytes = length === undefined ? undefined : Number(length);
  if (declaredBytes !== undefined && declaredBytes > BODY_LIMIT_BYTES) throw tooLarge();
  const reservation = openReservation(declaredBytes);
  let file: SpooledFile | undefined;
  try {
    const form = await parseForm(request, response, { folder, reservation }, RULES);
    file = form.file && reservation.filled(form.file.path, form.file.size);
    if (!file) reservation.free();
    return { fields: fieldsOf(form, isList), upload: file && new Upload(file) };
  } catch (error) {
    if (file) await file.remove();
    else reservation.free();
    throw isRecordingReadAsText(error) ? unnamedRecording() : error;
  }
}

const RULES: FormRules = {
  limits: FORM_LIMITS,
  bodyLimitBytes: BODY_LIMIT_BYTES,
  files: (form) => form.single(FILE_FIELD),
  tooLarge,
  unnamedFile,
  limitFault,
};

/**
 * Multer makes a list or an object of a name with brackets (`a[]`), and a list of a repeated name. Only the fields that
 * are lists accept them.
 */
function fieldsOf(form: ParsedForm, isList: (field: string) => boolean): TextForm {
  if (!form.isWhole()) throw invalidForm(UNREADABLE_PART);
  const { body = {}, file } = form;
  const repeated = Object.keys(body).find((name) => {
    const value = body[name];
    const isRepeated = Array.isArray(value) && value.length > 1 && !isList(name);
    return isRepeated || (file && name === FILE_FIELD);
  });
  if (repeated !== undefined) throw repeatedField(repeated);
  return body as TextForm;
}

/** Whether the parser read the bytes of the recording as a text because the part has no filename. */
function isRecordingReadAsText(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error.code === 'invalid_request' && error.param === FILE_FIELD;
}

function limitFault(error: MulterError): GatewayError {
  if (error.code === 'LIMIT_FILE_SIZE') return tooLarge();
  if (error.code === 'LIMIT_FIELD_VALUE' && error.field === FILE_FIELD) return unnamedRecording();
  if (error.code === 'LIMIT_FIELD_VALUE') return longField(error.field);
  if (error.code === 'LIMIT_UNEXPECTED_FILE') return misplacedFile(error.field);
  return invalidForm(`The multipart form is refused: ${error.message}.`, error);
}

/** The error for a file in another field, or for a second file. */
function misplacedFile(field = ''): GatewayError {
  const message =
    field === FILE_FIELD
      ? 'The form has more than one file.'
      : `${field} must not be a file: a recording is sent in the field ${FILE_FIELD}.`;
  return new GatewayError('invalid_multipart', message, { param: field });
}

/** The error for a part without a filename that is not a valid text. */
function unnamedFile(name: string): GatewayError {
  if (name === FILE_FIELD) return unnamedRecording();
  const message = `${name || 'A part'} of type application/octet-stream has no filename.`;
  return new GatewayError('invalid_multipart', message, { param: name || null });
}

function unnamedRecording(): GatewayError {
  const message = 'file must be sent as a file part, with a filename.';
  return new GatewayError('audio_input_required', message, { param: FILE_FIELD });
}

function tooLarge(): GatewayError {
  const message = `An uploaded file may have at most ${MEDIA_LIMIT_BYTES} bytes.`;
  return new GatewayError('request_too_large', message, { param: FILE_FIELD });
}
