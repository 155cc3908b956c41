import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { type NewOperatorAction, OperatorActions } from '../auth/acts/operator-actions.js';
import { actOf } from '../auth/acts/operator-acts.js';
import { OperatorTargets } from './operator-targets.js';
import { REPLAYED_HEADER } from './replayed-entry.js';

const READING: readonly string[] = ['GET', 'HEAD'];
/** This much of a token's hash is enough to tell tokens apart. */
const ACTOR_DIGITS = 12;

/**
 * Records every change that an operator requests before it is made: by which token (the beginning of its SHA-256),
 * what, on which resource, from which address, when; afterwards what came of it, a refusal too, and what changed. Throws if the record cannot
 * be written; then nothing is changed.
 */
@Injectable()
export class OperatorActionsInterceptor implements NestInterceptor {
  private readonly actor: string;

  constructor(
    private readonly actions: OperatorActions,
    private readonly targets: OperatorTargets,
    @Inject(GATEWAY_CONFIG) { adminToken = '' }: GatewayConfig,
  ) {
    this.actor = createHash('sha256').update(adminToken).digest('hex').slice(0, ACTOR_DIGITS);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    if (READING.includes(request.method)) return next.handle();
    const perform = () => lastValueFrom(next.handle(), { defaultValue: undefined });
    const read = (id: string) => this.targets.read(id);
    const isReplay = () => response.hasHeader(REPLAYED_HEADER);
    return from(this.actions.perform(this.actionOf(request), perform, read, isReplay));
  }

  private actionOf({ method, route, params, ip }: Request): NewOperatorAction {
    const { path } = route as { readonly path: string };
    // The innermost: an endpoint of an account is named behind the account.
    const target = Object.values(params).at(-1);
    return {
      actor: this.actor,
      action: actOf(`${method} ${path}`),
      target: typeof target === 'string' ? target : null,
      address: ip ?? null,
    };
  }
}
