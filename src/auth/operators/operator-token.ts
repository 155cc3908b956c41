import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../../common/time/clock.js';
import {
  GATEWAY_CONFIG,
  type GatewayConfig,
  workerCount,
} from '../../platform/config/gateway-config.js';
import { StaticBearerToken } from '../../platform/http-server/client-limits/static-bearer-token.js';
import { operatorActorsOf } from './operator-actors.js';

/** `ADMIN_TOKEN`. Requests and sign-ins share the count of wrong tokens: after ten an address has to wait. */
@Injectable()
export class OperatorToken {
  /** The name of the token in the record of actions; undefined without a token. */
  readonly actor: string | undefined;
  private readonly token: StaticBearerToken | undefined;
  private readonly logger = new Logger(OperatorToken.name);
  private readonly isForEmergencies: boolean;

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig, clock: Clock) {
    const { adminToken: token } = config;
    const actors = operatorActorsOf(config);
    this.actor = actors.token;
    this.isForEmergencies = actors.oidc !== undefined;
    this.token =
      token === undefined
        ? undefined
        : new StaticBearerToken({ name: 'admin', token, workers: workerCount(config), clock });
  }

  get isSet(): boolean {
    return this.token !== undefined;
  }

  /** Accepts a request with the token in its header. Throws 401 `invalid_token` and 429 `rate_limit_exceeded`. */
  check(request: Pick<Request, 'headers' | 'ip'>): void {
    this.token?.check(request);
  }

  /**
   * Accepts the token itself, with which somebody signs in. Where operators have an identity provider, the log says so. Throws as
   * {@link check}.
   */
  checkText(text: string, ip: string | undefined): void {
    this.token?.check({ headers: { authorization: `Bearer ${text}` }, ip }, 'token');
    if (!this.isForEmergencies) return;
    const message = 'somebody signed in with ADMIN_TOKEN, although there is an identity provider';
    this.logger.warn({ address: ip }, message);
  }
}
