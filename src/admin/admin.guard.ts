import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { StaticBearerToken } from '../platform/http-server/client-limits/static-bearer-token.js';
import { Clock } from '../common/time/clock.js';
import {
  GATEWAY_CONFIG,
  type GatewayConfig,
  workerCount,
} from '../platform/config/gateway-config.js';

/**
 * Accepts only the operator. Without `ADMIN_TOKEN` there is no operator API: 404. A wrong token is 401, and after ten
 * of them 429.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly token?: StaticBearerToken;

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig, clock: Clock) {
    const { adminToken: token } = config;
    const workers = workerCount(config);
    if (token !== undefined) {
      this.token = new StaticBearerToken({ name: 'admin', token, workers, clock });
    }
  }

  canActivate(context: ExecutionContext): boolean {
    if (this.token === undefined) throw new GatewayError('not_found', 'No such resource.');
    this.token.check(context.switchToHttp().getRequest<Request>());
    return true;
  }
}
