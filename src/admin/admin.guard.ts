import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';

const BEARER = /^bearer ([^\s]+)$/i;
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Lets only the operator pass. Without `ADMIN_TOKEN` there is no operator API: 404; a wrong token is 401. */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly expected: Buffer | undefined;

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig) {
    this.expected = config.adminToken === undefined ? undefined : digest(config.adminToken);
  }

  canActivate(context: ExecutionContext): boolean {
    if (this.expected === undefined) throw new GatewayError('not_found', 'No such resource.');
    const { headers } = context.switchToHttp().getRequest<Request>();
    const token = BEARER.exec(headers.authorization ?? '')?.[1] ?? '';
    if (timingSafeEqual(digest(token), this.expected)) return true;
    throw new GatewayError('invalid_token', 'The admin token is missing or wrong.', {
      param: 'Authorization',
    });
  }
}
