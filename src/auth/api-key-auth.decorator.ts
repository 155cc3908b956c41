import {
  applyDecorators,
  UseGuards,
  createParamDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { BearerGuard } from './bearer.guard.js';
import { RateLimitGuard } from './rate-limit/rate-limit.guard.js';
import assert from 'node:assert/strict';
import type { Request } from 'express';
import type { Caller } from './caller.js';

/** Name of the bearer scheme in the OpenAPI document. */
export const API_KEY_SCHEME = 'api-key';

/** An endpoint for key holders: key 401, disabled account 403, then rate limit 429, in this order (decision G-01). */
export function ApiKeyAuth(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    UseGuards(BearerGuard, RateLimitGuard),
    ApiBearerAuth(API_KEY_SCHEME),
    ErrorResponses(
      'invalid_token',
      'account_disabled',
      'rate_limit_exceeded',
      'internal_error',
      'service_unavailable',
    ),
  );
}

/** The caller that the bearer guard has accepted. */
export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Caller => {
    const { caller } = context.switchToHttp().getRequest<Request>();
    assert(caller, 'CurrentCaller needs BearerGuard on the endpoint');
    return caller;
  },
);
