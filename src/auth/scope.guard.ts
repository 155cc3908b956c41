import assert from 'node:assert/strict';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Scope } from './scope.js';

/** Metadata key of the scopes of which a handler, or all handlers of a controller, need one. */
export const NEEDED_SCOPE = Symbol('NEEDED_SCOPE');

/** Says of which scopes of a key the endpoint needs one; on a handler they replace those of its controller. */
export const NeedsScope = (...anyOf: readonly Scope[]): ClassDecorator & MethodDecorator =>
  SetMetadata(NEEDED_SCOPE, anyOf);

/** Accepts keys that have a scope of the endpoint. Throws 403 `permission_denied`, which names what it needs (decision G-109). */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { caller } = context.switchToHttp().getRequest<Request>();
    assert(caller, 'ScopeGuard needs BearerGuard before it');
    const places = [context.getHandler(), context.getClass()];
    const anyOf = this.reflector.getAllAndOverride<readonly Scope[] | undefined>(
      NEEDED_SCOPE,
      places,
    );
    assert(anyOf?.length, 'the endpoint names no scope');
    if (anyOf.some((scope) => caller.scopes.includes(scope))) return true;
    throw missingScope(anyOf, caller.scopes);
  }
}

/** 403 `permission_denied`, for a key that has these scopes only. */
export function missingScope(anyOf: readonly Scope[], scopes: readonly Scope[]): GatewayError {
  const had = scopes.length === 0 ? 'none' : scopes.join(' and ');
  const message = `This request needs a key with the scope ${anyOf.join(' or ')}. This key has ${had}.`;
  return new GatewayError('permission_denied', message, { param: 'scopes' });
}
