import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Busboy } from 'busboy';
import type { Request, Response } from 'express';
import multer, { MulterError, type Options, type StorageEngine } from 'multer';
import { GatewayError } from '../common/errors/gateway-error.js';
import { sendContinue } from '../platform/http-server/request-body/body-headers.js';
import { MEDIA_LIMIT_BYTES } from '../platform/http-client/download.js';
import {
  formBody,
  type FormSource,
  meterUpTo,
  UNKNOWN_CHARSET,
  UNREADABLE_PART,
} from './form-body.js';
import { diskError, type TempFolder } from './temp-folder.js';
import type { SpooledFile, SpoolReservation } from './spool.js';
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
    const form = await parse(request, response, folder, reservation);
    file = form.file && reservation.filled(form.file.path, form.file.size);
    if (!file) reservation.free();
    return { fields: fieldsOf(form, isList), upload: file && new Upload(file) };
  } catch (error) {
    if (file) await file.remove();
    else reservation.free();
    throw error;
  }
}

/** The stream that multer has read, with the properties that it sets on it. */
interface ParsedForm extends Pick<FormSource, 'isWhole'> {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly file?: Express.Multer.File;
}

function parse(
  request: Request,
  response: Response,
  folder: TempFolder,
  reservation: SpoolReservation,
): Promise<ParsedForm> {
  const body = formBody(request, meterUpTo(BODY_LIMIT_BYTES, tooLarge, reservation));
  sendContinue(request);
  const storage = new TempFileStorage(folder);
  const read = multer({
    storage,
    limits: FORM_LIMITS,
    streamHandler,
  } as Options).single(FILE_FIELD);
  return new Promise((resolve, reject) => {
    read(body as unknown as Request, response, (error: unknown) => {
      if (error === undefined) resolve(body);
      else {
        void storage.settled.finally(() => {
          reject(publicFault(error as Error));
        });
      }
    });
    request.pipe(body);
  });
}

/** Multer detaches its parser when it has found an error; reading ends then. */
function streamHandler(body: FormSource, parser: Busboy): void {
  parser.once('unpipe', () => body.destroy());
  body.watch(parser);
  parser.on('field', (_name, text: string | undefined) => {
    // The parser passes no text for a part in an unknown charset.
    if (text === undefined) body.destroy(invalid(UNKNOWN_CHARSET));
  });
  parser.on('file', (name, part, { filename }) => {
    // Multer would drop the bytes of this part. Browsers send an empty part if the user chose no file.
    if (!filename) part.once('data', () => body.destroy(unnamedFile(name)));
  });
  body.pipe(parser);
}

/** Streams the file to disk, and fails at the first byte above the limit, not at the end of the part. */
class TempFileStorage implements StorageEngine {
  /** Resolves when the file is complete, or removed again. */
  settled: Promise<void> = Promise.resolve();

  constructor(private readonly folder: TempFolder) {}

  _handleFile: StorageEngine['_handleFile'] = (_request, { stream }, done) => {
    stream.once('limit', () => stream.destroy(new MulterError('LIMIT_FILE_SIZE')));
    this.settled = this.write(stream).then((file) => {
      done(null, file);
    }, done);
  };

  _removeFile: StorageEngine['_removeFile'] = (_request, { path }, done) => {
    this.settled = rm(path, { force: true }).then(() => {
      done(null);
    }, done);
  };

  private async write(stream: Readable): Promise<{ path: string; size: number }> {
    const path = this.folder.newFile();
    try {
      // Opened before the stream: a stream would create the file later, perhaps after its removal.
      const file = await open(path, 'wx', 0o600);
      const target = file.createWriteStream();
      await pipeline(stream, target);
      return { path, size: target.bytesWritten };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }
}

/**
 * Multer makes a list or an object of a name with brackets (`a[]`), and a list of a repeated name. Only the fields that
 * are lists accept them.
 */
function fieldsOf(form: ParsedForm, isList: (field: string) => boolean): TextForm {
  if (!form.isWhole()) throw invalid(UNREADABLE_PART);
  const { body = {}, file } = form;
  const repeated = Object.keys(body).find((name) => {
    const value = body[name];
    const isRepeated = Array.isArray(value) && value.length > 1 && !isList(name);
    return isRepeated || (file && name === FILE_FIELD);
  });
  if (repeated !== undefined) {
    // The name comes from the client. Its length is limited.
    const message = `${repeated} is repeated.`;
    throw new GatewayError('invalid_multipart', message, { param: repeated });
  }
  return body as TextForm;
}

function publicFault(error: Error): Error {
  if (error instanceof GatewayError)
    return isRecordingReadAsText(error) ? unnamedRecording() : error;
  if (error instanceof MulterError) return limitFault(error);
  // A disk error is a fault of the gateway, not of the client.
  if ('syscall' in error) return diskError(error) as Error;
  return invalid('The multipart form is broken.', error);
}

/** Whether the parser read the bytes of the recording as a text because the part has no filename. */
function isRecordingReadAsText({ code, param }: GatewayError): boolean {
  return code === 'invalid_request' && param === FILE_FIELD;
}

function limitFault(error: MulterError): GatewayError {
  if (error.code === 'LIMIT_FILE_SIZE') return tooLarge();
  if (error.code === 'LIMIT_FIELD_VALUE' && error.field === FILE_FIELD) return unnamedRecording();
  if (error.code === 'LIMIT_FIELD_VALUE') {
    const message = 'A form field is longer than any field may be.';
    return new GatewayError('invalid_request', message, { param: error.field ?? null });
  }
  if (error.code === 'LIMIT_UNEXPECTED_FILE') return misplacedFile(error.field);
  return invalid(`The multipart form is refused: ${error.message}.`, error);
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

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_multipart', message, { cause });
}

function tooLarge(): GatewayError {
  const message = `An uploaded file may have at most ${MEDIA_LIMIT_BYTES} bytes.`;
  return new GatewayError('request_too_large', message, { param: FILE_FIELD });
}
