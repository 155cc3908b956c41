import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import assert from 'node:assert/strict';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { ImageForm } from '../media/image-form.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard of image edits. */
    images?: ImageUpload;
  }
}

/** The files of an edit, on disk. They are removed after {@link during}, and otherwise when the response ends. */
export class ImageUpload {
  private isTaken = false;
  private isDiscarded = false;

  constructor(private readonly form: Pick<ImageForm, 'files' | 'images' | 'mask'>) {}

  get images(): ImageForm['images'] {
    return this.form.images;
  }

  get mask(): ImageForm['mask'] {
    return this.form.mask;
  }

  /** Runs work with the files, which exist as long as it runs. Throws where the client left before, and the files with it. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.isDiscarded) throw new GatewayError('invalid_request', 'The client has left.');
    this.isTaken = true;
    try {
      return await work();
    } finally {
      await this.form.files.remove();
    }
  }

  /** Removes the files unless work has them. */
  async discard(): Promise<void> {
    if (this.isTaken) return;
    this.isDiscarded = true;
    await this.form.files.remove();
  }
}

/** The files of the request; for the handler of image edits. */
export const UploadedImages = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ImageUpload => {
    const { images } = context.switchToHttp().getRequest<Request>();
    assert(images, 'UploadedImages needs ImageFormGuard before it');
    return images;
  },
);
