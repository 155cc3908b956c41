import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { BodyQuota } from './body-quota.js';
import { checkJsonHead, JSON_BODY_BYTES, readJson } from './json-body.js';

const BODY_LIMIT = Symbol('BODY_LIMIT');
const BODY_OPTIONAL = Symbol('BODY_OPTIONAL');

/** Lets an endpoint take a larger JSON body than the default megabyte (decision G-11). */
export const BodyLimit = (limitBytes: number): MethodDecorator =>
  SetMetadata(BODY_LIMIT, limitBytes);

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
    const limit = this.reflector.get<number | undefined>(BODY_LIMIT, context.getHandler());
    checkJsonHead(request, limit ?? JSON_BODY_BYTES);
    const meter = await this.quota.open(request, http.getResponse<Response>(), 'json');
    request.body = (await readJson(request, limit ?? JSON_BODY_BYTES, meter)).value;
    return true;
  }
}

function hasNoBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}
