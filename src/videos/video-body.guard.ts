import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { JSON_BODY_BYTES } from '../platform/http-server/request-body/json-body.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { jsonOfForm } from '../common/validation/form-fields.js';
import { readTextForm } from '../media/text-form.js';
import { VideoBody } from './dto/video.body.js';

const FORM = /^\s*multipart\/form-data\b/i;

/** Reads the body of a submission: JSON, or the multipart form of text parts that stock SDKs send (decision G-61). */
@Injectable()
export class VideoBodyGuard extends JsonBodyGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!FORM.test(request.headers['content-type'] ?? '')) return super.canActivate(context);
    const meter = await this.quota.open(request, http.getResponse<Response>(), 'text-form');
    request.body = jsonOfForm(VideoBody, await readTextForm(request, JSON_BODY_BYTES, meter));
    return true;
  }
}
