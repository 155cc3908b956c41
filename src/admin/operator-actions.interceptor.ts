import assert from 'node:assert/strict';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { READING_METHODS } from '../auth/operators/operator.js';
import { type NewOperatorAction, OperatorActions } from '../auth/acts/operator-actions.js';
import { actOf } from '../auth/acts/operator-acts.js';
import { OperatorTargets } from './operator-targets.js';
import { REPLAYED_HEADER } from '../platform/http-server/responses/answer-copy.js';

/**
 * Records every change that an operator requests before it is made: by which token (the beginning of its SHA-256), in the
 * console also by which person, in which role and why; what, on which resource, from which address, when; afterwards what came of it, a refusal too, and what changed. Throws if the record cannot
 * be written; then nothing is changed.
 */
@Injectable()
export class OperatorActionsInterceptor implements NestInterceptor {
  constructor(
    private readonly actions: OperatorActions,
    private readonly targets: OperatorTargets,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    if (READING_METHODS.includes(request.method)) return next.handle();
    const perform = () => lastValueFrom(next.handle(), { defaultValue: undefined });
    const read = (id: string) => this.targets.read(id);
    const isReplay = () => response.hasHeader(REPLAYED_HEADER);
    return from(this.actions.perform(this.actionOf(request), perform, read, isReplay));
  }

  private actionOf({ method, route, params, ip, operator }: Request): NewOperatorAction {
    assert(operator, 'OperatorActionsInterceptor needs AdminGuard on the endpoint');
    const { actor, person, role, reason, identity } = operator;
    const { path } = route as { readonly path: string };
    return {
      actor,
      action: actOf(`${method} ${path}`),
      target: targetOf(params),
      address: ip ?? null,
      person,
      role,
      reason,
      identity,
    };
  }
}

/** A route is named behind its provider; of others the innermost: an endpoint of an account is named behind the account. */
function targetOf(params: Request['params']): string | null {
  const { provider, route } = params;
  if (typeof provider === 'string') return [provider, route].filter(Boolean).join('/');
  const target = Object.values(params).at(-1);
  return typeof target === 'string' ? target : null;
}
