import assert from 'node:assert/strict';
import { finished } from 'node:stream';
import { type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { BodyQuota } from '../platform/http-server/request-body/body-quota.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import type { Dto } from '../common/validation/fields.js';
import { isListField, jsonOfForm } from '../common/validation/form-fields.js';
import { TempFolder } from './temp-folder.js';
import { Spool } from './spool.js';
import { FILE_FIELD, readUploadForm, type UploadForm } from './upload-form.js';

const FORM_BODY = Symbol('FORM_BODY');

/** Sets the request class whose types are used to convert the text fields of a form. */
export const FormBody = (body: Dto): MethodDecorator => SetMetadata(FORM_BODY, body);

/**
 * Reads the body of an endpoint that takes a recording: JSON, or a multipart form whose text fields become the same
 * body and whose file becomes `request.upload`. It runs after the caller was accepted, so that requests without a key
 * cannot make the gateway read a file (decision G-01). Throws what `readJson` and `readUploadForm` throw,
 * `invalid_content_type`, and `invalid_multipart` for a form without `model` (API: Recordings).
 */
@Injectable()
export class MediaBodyGuard extends JsonBodyGuard {
  constructor(
    private readonly metadata: Reflector,
    quota: BodyQuota,
    private readonly folder: TempFolder,
    private readonly spool: Spool,
  ) {
    super(metadata, quota);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    if (type === 'application/json') return super.canActivate(context);
    if (type !== 'multipart/form-data') {
      const message = 'Content-Type must be multipart/form-data or application/json.';
      throw new GatewayError('invalid_content_type', message, { param: 'Content-Type' });
    }
    const response = http.getResponse<Response>();
    assert(request.caller, 'MediaBodyGuard needs BearerGuard before it');
    await this.quota.open(request, response, 'form');
    const { accountId } = request.caller;
    const body = this.metadata.get<Dto>(FORM_BODY, context.getHandler());
    const form = await readUploadForm(
      request,
      response,
      this.folder,
      (bytes) => this.spool.open(accountId, bytes),
      (field) => isListField(body, field),
    );
    const { upload } = form;
    // Also called if the response has already ended, because the client may have disconnected.
    if (upload) finished(response, () => void upload.discard());
    request.body = jsonOfForm(body, textsOf(form));
    if (!upload) return true;
    request.upload = upload;
    if (request.headers['idempotency-key'] !== undefined) {
      const files = { file: await upload.digest(response) };
      request.keyedBody = { fields: form.fields, files };
    }
    return true;
  }
}

function textsOf({ fields, upload }: UploadForm): UploadForm['fields'] {
  if (!Object.hasOwn(fields, 'model')) {
    throw new GatewayError('invalid_multipart', 'The form has no model field.', { param: 'model' });
  }
  const { [FILE_FIELD]: _text, ...others } = fields;
  // A text field named `file` is no recording. If no other input was sent, MediaIntake rejects the request.
  return upload !== undefined || fields.audio_url ? fields : others;
}
