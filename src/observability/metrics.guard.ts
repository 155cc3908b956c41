import { BlockList, isIP } from 'node:net';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { BearerToken } from '../common/secrets/bearer-token.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Accepts only scrapers with `METRICS_TOKEN`, because metrics name vendors and volumes. Without a token, metrics are
 * served only if the gateway listens on a loopback address; otherwise 404.
 */
@Injectable()
export class MetricsGuard implements CanActivate {
  private readonly token: BearerToken | undefined;

  constructor(@Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig) {
    this.token =
      config.metricsToken === undefined ? undefined : new BearerToken(config.metricsToken);
  }

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    if (!servesMetrics(this.config)) throw new GatewayError('not_found', 'No such resource.');
    if (this.token?.isIn(headers.authorization) ?? true) return true;
    throw new GatewayError('invalid_token', 'The metrics token is missing or wrong.', {
      param: 'Authorization',
    });
  }
}

/** Whether `/metrics` is served at all. */
export function servesMetrics({
  metricsToken,
  host,
}: Pick<GatewayConfig, 'metricsToken' | 'host'>): boolean {
  if (metricsToken !== undefined || host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
