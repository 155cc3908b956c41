import assert from 'node:assert/strict';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Scope } from './scope.js';

/** Metadata key of the scope that a handler, or all handlers of a controller, need. */
export const NEEDED_SCOPE = Symbol('NEEDED_SCOPE');

/** Says which scope of a key the endpoint needs; on a handler it replaces that of its controller. */
export const NeedsScope = (scope: Scope): ClassDecorator & MethodDecorator =>
  SetMetadata(NEEDED_SCOPE, scope);

/** Accepts keys that have the scope of the endpoint. Throws 403 `permission_denied`, which names it (decision G-109). */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { caller } = context.switchToHttp().getRequest<Request>();
    assert(caller, 'ScopeGuard needs BearerGuard before it');
    const places = [context.getHandler(), context.getClass()];
    const needed = this.reflector.getAllAndOverride<Scope | undefined>(NEEDED_SCOPE, places);
    assert(needed, 'the endpoint names no scope');
    if (caller.scopes.includes(needed)) return true;
    throw missingScope(needed, caller.scopes);
  }
}

/** 403 `permission_denied`, for a key that has these scopes only. */
export function missingScope(needed: Scope, scopes: readonly Scope[]): GatewayError {
  const had = scopes.length === 0 ? 'none' : scopes.join(' and ');
  const message = `This request needs a key with the scope ${needed}. This key has ${had}.`;
  return new GatewayError('permission_denied', message, { param: 'scopes' });
}
