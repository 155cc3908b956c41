import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Busboy } from 'busboy';
import type { Request, RequestHandler, Response } from 'express';
import multer, { type Multer, MulterError, type Options, type StorageEngine } from 'multer';
import { GatewayError } from '../common/errors/gateway-error.js';
import { sendContinue } from '../platform/http-server/request-body/body-headers.js';
import { formBody, type FormSource, meterUpTo, UNKNOWN_CHARSET } from './form-body.js';
import type { SpoolReservation } from './spool.js';
import { diskError, type TempFolder } from './temp-folder.js';
import { PRIVATE_FILE_MODE } from '../common/private-files.js';

/** What one kind of form takes, and how its refusals read. */
export interface FormRules {
  readonly limits: NonNullable<Options['limits']>;
  /** The largest form within all other limits, with its part headers. */
  readonly bodyLimitBytes: number;
  /** The fields that take files. */
  readonly files: (form: Multer) => RequestHandler;
  readonly tooLarge: () => GatewayError;
  /** For a part without a filename that is not a valid text. */
  readonly unnamedFile: (name: string) => GatewayError;
  readonly limitFault: (error: MulterError) => GatewayError;
}

/** The stream that multer has read, with the properties that it sets on it. */
export interface ParsedForm extends Pick<FormSource, 'isWhole'> {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly file?: Express.Multer.File;
  readonly files?: Readonly<Record<string, readonly Express.Multer.File[]>>;
}

/** Where the files of a form go. */
export interface FormPlace {
  readonly folder: TempFolder;
  readonly reservation: SpoolReservation;
}

/**
 * Reads a multipart form, its files to disk. Rejects with a GatewayError as soon as a fault is seen, once every file is complete or
 * removed again.
 */
export function parseForm(
  request: Request,
  response: Response,
  { folder, reservation }: FormPlace,
  rules: FormRules,
): Promise<ParsedForm> {
  const { limits, bodyLimitBytes, tooLarge } = rules;
  const body = formBody(request, meterUpTo(bodyLimitBytes, tooLarge, reservation));
  sendContinue(request);
  const storage = new TempFileStorage(folder);
  const streamHandler = (source: FormSource, parser: Busboy): void => {
    handleStream(source, parser, rules);
  };
  const read = rules.files(multer({ storage, limits, streamHandler } as Options));
  return new Promise((resolve, reject) => {
    const done = (error: unknown): void => {
      if (error === undefined) resolve(body);
      else {
        void storage.settled.finally(() => {
          reject(publicFault(error as Error, rules));
        });
      }
    };
    void read(body as unknown as Request, response, done);
    request.pipe(body);
  });
}

/** Multer detaches its parser when it has found an error; reading ends then. */
function handleStream(body: FormSource, parser: Busboy, { unnamedFile }: FormRules): void {
  parser.once('unpipe', () => body.destroy());
  body.watch(parser);
  parser.on('field', (_name, text: string | undefined) => {
    // The parser passes no text for a part in an unknown charset.
    if (text === undefined) body.destroy(invalidForm(UNKNOWN_CHARSET));
  });
  parser.on('file', (name, part, { filename }) => {
    // Multer would drop the bytes of this part. Browsers send an empty part if the user chose no file.
    if (!filename) part.once('data', () => body.destroy(unnamedFile(name)));
  });
  body.pipe(parser);
}

/** Streams files to disk, and fails at the first byte above the limit, not at the end of the part. */
class TempFileStorage implements StorageEngine {
  /** Resolves when every file is complete, or removed again. */
  settled: Promise<unknown> = Promise.resolve();

  constructor(private readonly folder: TempFolder) {}

  _handleFile: StorageEngine['_handleFile'] = (_request, { stream }, done) => {
    stream.once('limit', () => stream.destroy(new MulterError('LIMIT_FILE_SIZE')));
    const written = this.write(stream).then((file) => {
      done(null, file);
    }, done);
    this.settled = Promise.all([this.settled, written]);
  };

  _removeFile: StorageEngine['_removeFile'] = (_request, { path }, done) => {
    const removed = rm(path, { force: true }).then(() => {
      done(null);
    }, done);
    this.settled = Promise.all([this.settled, removed]);
  };

  private async write(stream: Readable): Promise<{ path: string; size: number }> {
    const path = this.folder.newFile();
    try {
      // Opened before the stream: a stream would create the file later, perhaps after its removal.
      const file = await open(path, 'wx', PRIVATE_FILE_MODE);
      const target = file.createWriteStream();
      await pipeline(stream, target);
      return { path, size: target.bytesWritten };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }
}

function publicFault(error: Error, { limitFault }: FormRules): Error {
  if (error instanceof GatewayError) return error;
  if (error instanceof MulterError) return limitFault(error);
  // A disk error is a fault of the gateway, not of the client.
  if ('syscall' in error) return diskError(error) as Error;
  return invalidForm('The multipart form is broken.', error);
}

/** 400 for a form that cannot be read. */
export function invalidForm(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_multipart', message, { cause });
}

/** 400 for a field that was sent twice. Its name comes from the client; its length is limited. */
export function repeatedField(name: string): GatewayError {
  return new GatewayError('invalid_multipart', `${name} is repeated.`, { param: name });
}

/** 400 for a text that is longer than any may be. */
export function longField(field: string | undefined): GatewayError {
  const message = 'A form field is longer than any field may be.';
  return new GatewayError('invalid_request', message, {
    param: field === '' ? null : (field ?? null),
  });
}
