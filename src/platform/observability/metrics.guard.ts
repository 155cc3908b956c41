import { BlockList, isIP } from 'node:net';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { StaticBearerToken } from '../http-server/client-limits/static-bearer-token.js';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig, workerCount } from '../config/gateway-config.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Accepts only scrapers with `METRICS_TOKEN`, because metrics name vendors and volumes. Without a token, metrics are
 * served only if the gateway listens on a loopback address; otherwise 404. A wrong token is 401, and after ten of them 429.
 */
@Injectable()
export class MetricsGuard implements CanActivate {
  private readonly token?: StaticBearerToken;

  constructor(
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    clock: Clock,
  ) {
    const { metricsToken: token } = config;
    const workers = workerCount(config);
    if (token !== undefined) {
      this.token = new StaticBearerToken({ name: 'metrics', token, workers, clock });
    }
  }

  canActivate(context: ExecutionContext): boolean {
    if (!servesMetrics(this.config)) throw new GatewayError('not_found', 'No such resource.');
    this.token?.check(context.switchToHttp().getRequest<Request>());
    return true;
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
