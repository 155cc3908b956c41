import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { GuessLimit } from '../common/http/guess-limit.js';
import { BearerToken } from '../common/secrets/bearer-token.js';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig, workerCount } from '../config/gateway-config.js';

/** Wrong tokens per address and minute, shared by the processes. Beyond it the address has to wait, even with the right token. */
const WRONG_TOKENS_PER_MINUTE = 10;

/**
 * Accepts only the operator. Without `ADMIN_TOKEN` there is no operator API: 404. A wrong token is 401, and after ten
 * of them 429.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly token: BearerToken | undefined;
  private readonly wrong: GuessLimit;

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig, clock: Clock) {
    const { adminToken } = config;
    this.token = adminToken === undefined ? undefined : new BearerToken(adminToken);
    this.wrong = new GuessLimit(Math.ceil(WRONG_TOKENS_PER_MINUTE / workerCount(config)), clock);
  }

  canActivate(context: ExecutionContext): boolean {
    if (this.token === undefined) throw new GatewayError('not_found', 'No such resource.');
    const { headers, ip } = context.switchToHttp().getRequest<Request>();
    const waitMs = this.wrong.waitMs(ip);
    if (waitMs > 0) {
      throw new GatewayError('rate_limit_exceeded', 'Too many wrong admin tokens.', {
        retryAfterSeconds: waitMs / 1_000,
      });
    }
    if (this.token.isIn(headers.authorization)) return true;
    this.wrong.failed(ip);
    throw new GatewayError('invalid_token', 'The admin token is missing or wrong.', {
      param: 'Authorization',
    });
  }
}
