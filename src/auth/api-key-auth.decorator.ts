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
import type { Scope } from './scope.js';
import { NeedsScope, ScopeGuard } from './scope.guard.js';
import assert from 'node:assert/strict';
import type { Request } from 'express';
import type { Caller } from './caller.js';

/** Name of the bearer scheme in the OpenAPI document. */
export const API_KEY_SCHEME = 'api-key';

/** The guards of every endpoint for key holders: key 401, disabled account 403, rate limit 429, scope 403 (decision G-01). */
export const KEY_GUARDS = [BearerGuard, RateLimitGuard, ScopeGuard] as const;

/** An endpoint, or a controller of endpoints, for holders of keys with one of the scopes. */
export function ApiKeyAuth(...anyOf: readonly Scope[]): ClassDecorator & MethodDecorator {
  return applyDecorators(
    NeedsScope(...anyOf),
    UseGuards(...KEY_GUARDS),
    ApiBearerAuth(API_KEY_SCHEME),
    ErrorResponses(
      'invalid_token',
      'account_disabled',
      'permission_denied',
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
