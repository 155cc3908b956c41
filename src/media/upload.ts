import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { SpooledFile } from './spool.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the media body guard if the form contains a file. */
    upload?: Upload;
  }
}

/**
 * A file of a form, on disk. Code that calls {@link take} has to remove it. Otherwise it is removed when the response
 * ends.
 */
export class Upload {
  private isTaken = false;
  private isDiscarded = false;

  constructor(private readonly file: SpooledFile) {}

  /** The file. From now on the caller has to remove it. Throws 400 where its client has left, and the file with it. */
  take(): SpooledFile {
    if (this.isDiscarded) throw clientLeft();
    this.isTaken = true;
    return this.file;
  }

  /** By which a retry with the same file is known. Throws as {@link digestOfFile}. */
  digest(response: Response): Promise<string> {
    return digestOfFile(this.file.path, response);
  }

  /** Removes the file unless it was taken. */
  async discard(): Promise<void> {
    if (this.isTaken) return;
    this.isDiscarded = true;
    await this.file.remove();
  }
}

/** SHA-256 of a file of a form, in hex digits. Throws 400 where its client has left, and the file with it. */
export async function digestOfFile(path: string, response: Response): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash).catch((error: unknown) => {
    if (response.destroyed) throw clientLeft();
    throw error;
  });
  return hash.digest('hex');
}

const clientLeft = () => new GatewayError('invalid_request', 'The client has left.');

/** The uploaded file of the request; undefined if the body has none. */
export const Uploaded = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Upload | undefined =>
    context.switchToHttp().getRequest<Request>().upload,
);
