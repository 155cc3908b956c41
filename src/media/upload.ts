import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
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

  constructor(private readonly file: SpooledFile) {}

  /** The file. From now on the caller has to remove it. */
  take(): SpooledFile {
    this.isTaken = true;
    return this.file;
  }

  /** Removes the file unless it was taken. */
  async discard(): Promise<void> {
    if (!this.isTaken) await this.file.remove();
  }
}

/** The uploaded file of the request; undefined if the body has none. */
export const Uploaded = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Upload | undefined =>
    context.switchToHttp().getRequest<Request>().upload,
);
