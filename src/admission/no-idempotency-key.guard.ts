import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { checkedIdempotencyKey } from './idempotency-key.guard.js';
import { prefers, RESPOND_ASYNC } from './preferences.js';

/**
 * Rejects an `Idempotency-Key`, even an empty one, on synchronous audio endpoints (API: Shared audio rules; decision
 * G-48). With `Prefer: respond-async` the call becomes a task, which takes one.
 */
@Injectable()
export class NoIdempotencyKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const { headers } = request;
    if (headers['idempotency-key'] === undefined) return true;
    if (prefers(headers.prefer, RESPOND_ASYNC)) {
      checkedIdempotencyKey(request);
      return true;
    }
    const message =
      'Idempotency-Key is not supported on this endpoint: tasks, chat, images, embeddings and POST /admin/accounts/{id}/credits take it. Leave it out.';
    throw new GatewayError('idempotency_not_supported', message, { param: 'Idempotency-Key' });
  }
}
