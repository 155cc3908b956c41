import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { BodyQuota } from './body-quota.js';
import {
  checkJsonHead,
  JSON_BODY_BYTES,
  JSON_BODY_VALUES,
  type JsonBodyLimits,
  readJson,
} from './json-body.js';

const BODY_LIMIT = Symbol('BODY_LIMIT');
const BODY_OPTIONAL = Symbol('BODY_OPTIONAL');

/** Lets an endpoint take a larger JSON body than the default megabyte, and more values (decision G-11). */
export const BodyLimit = (bytes: number, values = JSON_BODY_VALUES): MethodDecorator =>
  SetMetadata(BODY_LIMIT, { bytes, values } satisfies JsonBodyLimits);

/** Treats a request without a body as one with an empty object. */
export const BodyOptional = (): MethodDecorator => SetMetadata(BODY_OPTIONAL, true);

/**
 * Reads the JSON body after the guards before it have accepted the caller, so that without a key no body is read
 * (decision G-01). Throws the errors of `readJson` and of the body quota.
 */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    protected readonly quota: BodyQuota,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (
      this.reflector.get<true | undefined>(BODY_OPTIONAL, context.getHandler()) &&
      hasNoBody(request)
    ) {
      request.body = {};
      return true;
    }
    const own = this.reflector.get<JsonBodyLimits | undefined>(BODY_LIMIT, context.getHandler());
    const limits = own ?? { bytes: JSON_BODY_BYTES, values: JSON_BODY_VALUES };
    checkJsonHead(request, limits.bytes);
    const meter = await this.quota.open(request, http.getResponse<Response>(), 'json');
    request.body = (await readJson(request, limits, meter)).value;
    return true;
  }
}

function hasNoBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}
