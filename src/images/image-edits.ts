import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import assert from 'node:assert/strict';
import { finished } from 'node:stream';
import type { Request, Response } from 'express';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { ModelRow } from '../catalog/model-row.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { jsonOfForm } from '../common/validation/form-fields.js';
import { type ImageForm, readImageForm } from '../media/image-form.js';
import { Spool } from '../media/spool.js';
import { TempFolder } from '../media/temp-folder.js';
import { digestOfFile } from '../media/upload.js';
import { BodyQuota } from '../platform/http-server/request-body/body-quota.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { ImageEditBody } from './dto/image.body.js';
import { ImageUpload } from './image-upload.js';

const FORM = /^\s*multipart\/form-data\b/i;

/**
 * Reads the form of an edit: its texts become the body, its files `request.images`. It runs after the caller was accepted
 * (decision G-01). Throws what `readImageForm` throws, `invalid_content_type` for another body, and `invalid_multipart`
 * for a form without `model`.
 */
@Injectable()
export class ImageFormGuard extends JsonBodyGuard {
  constructor(
    reflector: Reflector,
    quota: BodyQuota,
    private readonly folder: TempFolder,
    private readonly spool: Spool,
  ) {
    super(reflector, quota);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!FORM.test(request.headers['content-type'] ?? '')) {
      const message = 'Content-Type must be multipart/form-data.';
      throw new GatewayError('invalid_content_type', message, { param: 'Content-Type' });
    }
    const response = http.getResponse<Response>();
    assert(request.caller, 'ImageFormGuard needs BearerGuard before it');
    await this.quota.open(request, response, 'form');
    const { accountId } = request.caller;
    const form = await readImageForm(request, response, this.folder, (bytes) =>
      this.spool.open(accountId, bytes),
    );
    const upload = new ImageUpload(form);
    // Also called if the response has already ended, because the client may have disconnected.
    finished(response, () => void upload.discard());
    if (!Object.hasOwn(form.fields, 'model')) {
      throw new GatewayError('invalid_multipart', 'The form has no model field.', {
        param: 'model',
      });
    }
    request.body = jsonOfForm(ImageEditBody, form.fields);
    request.images = upload;
    if (request.headers['idempotency-key'] !== undefined) {
      request.keyedBody = { fields: form.fields, files: await digestsOf(form, response) };
    }
    return true;
  }
}

/** Runs after the guard of the model. Throws 400 `model_not_found` for a model that edits no images. */
@Injectable()
export class EditingModelGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { admitted, replayed } = context.switchToHttp().getRequest<Request>();
    if (replayed) return true;
    assert(admitted, 'EditingModelGuard needs the guard of the model before it');
    checkEditable((admitted as AdmittedCall<'image'>).row);
    return true;
  }
}

/** Throws 400 `model_not_found` for a model that edits no images. */
export function checkEditable({ limits }: ModelRow<'image'>): void {
  if (limits.maxEditImages !== undefined) return;
  const message = 'The model does not run on this endpoint.';
  throw new GatewayError('model_wrong_kind', message, { param: 'model', shouldRetry: false });
}

/** Throws 400 naming the field for an edit without an image, or with more than its model takes. */
export function checkImages({ limits }: ModelRow<'image'>, { images }: ImageUpload): void {
  const { maxEditImages: most = 0 } = limits;
  if (images.length >= 1 && images.length <= most) return;
  const says =
    most === 1
      ? 'must be one file part of the form'
      : `must be 1 to ${most} file parts of the form`;
  throw new GatewayError('invalid_request', `image ${says} with this model.`, { param: 'image' });
}

/** By which a retry of the same form is known. */
async function digestsOf({ images, mask }: ImageForm, response: Response): Promise<object> {
  const digests: string[] = [];
  for (const { path } of [...images, ...(mask ? [mask] : [])]) {
    digests.push(await digestOfFile(path, response));
  }
  return { digests, hasMask: mask !== undefined };
}
