import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Caller } from './caller.js';
import { KeyCache } from './key-cache.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the bearer guard. */
    caller?: Caller;
  }
}

const BEARER = /^bearer ([^\s]+)$/i;

/** The same words for a missing, unknown, expired or revoked key (decision G-17). */
export const INVALID_TOKEN_MESSAGE = 'The API key is missing, invalid or revoked.';

/** Lets only live keys pass and notes the caller on the request. Throws 401 `invalid_token` (spec: Authentication). */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(private readonly keys: KeyCache) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    const caller = key === undefined ? undefined : await this.keys.find(key);
    if (caller === undefined) {
      throw new GatewayError('invalid_token', INVALID_TOKEN_MESSAGE, { param: 'Authorization' });
    }
    request.caller = caller;
    return true;
  }
}
