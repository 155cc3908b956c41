import { rm } from 'node:fs/promises';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the media body guard when the form holds a file. */
    upload?: Upload;
  }
}

/** A file that came in a form, on disk. Whoever takes it removes it; a file that nobody took goes with the answer. */
export class Upload {
  private isTaken = false;

  constructor(
    private readonly path: string,
    readonly sizeBytes: number,
  ) {}

  /** The path of the file, which is the caller's to remove from now on. */
  take(): string {
    this.isTaken = true;
    return this.path;
  }

  /** Removes the file unless somebody took it. */
  async discard(): Promise<void> {
    if (!this.isTaken) await rm(this.path, { force: true });
  }
}

/** The uploaded file of the request; undefined where the body has none. */
export const Uploaded = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Upload | undefined =>
    context.switchToHttp().getRequest<Request>().upload,
);
