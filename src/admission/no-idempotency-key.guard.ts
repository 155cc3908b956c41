import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';

/**
 * Rejects an `Idempotency-Key`, even an empty one, on synchronous audio endpoints (API: Shared audio rules; decision
 * G-48).
 */
@Injectable()
export class NoIdempotencyKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    if (headers['idempotency-key'] === undefined) return true;
    const message =
      'Idempotency-Key is not supported on this endpoint: tasks and POST /admin/accounts/{id}/credits take it, chat and images ignore it. Leave it out.';
    throw new GatewayError('idempotency_not_supported', message, { param: 'Idempotency-Key' });
  }
}
