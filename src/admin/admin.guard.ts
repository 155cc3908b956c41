import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { type Operator, REASON_HEADER } from '../auth/operators/operator.js';
import { OperatorToken } from '../auth/operators/operator-token.js';
import {
  MOVES_MONEY,
  NEEDED_ROLE,
  NEEDS_REASON,
  reaches,
  type Role,
} from '../auth/operators/role.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Clock } from '../common/time/clock.js';

/**
 * Accepts only operators whose role reaches that of the endpoint: holders of `ADMIN_TOKEN`, whose role is `admin`, and sessions
 * of the console. Without `ADMIN_TOKEN` there is no operator API but for sessions: 404. A wrong token is 401, and after ten of
 * them 429; a lower role is 403. A session that moves money needs a fresh proof (403) and a reason (400) (docs/operate/console.md).
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly token: OperatorToken,
    private readonly reflector: Reflector,
    private readonly clock: Clock,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const operator = (request.operator ??= this.ofToken(request));
    const places = [context.getHandler(), context.getClass()];
    // A forgotten role is that of the least operators.
    const needed = this.reflector.getAllAndOverride<Role | undefined>(NEEDED_ROLE, places);
    checkRole(operator.role, needed ?? 'admin');
    if (this.reflector.get<true | undefined>(MOVES_MONEY, context.getHandler())) {
      this.checkProof(operator);
    }
    if (this.reflector.get<true | undefined>(NEEDS_REASON, context.getHandler())) {
      checkReason(operator);
    }
    return true;
  }

  private ofToken(request: Request): Operator {
    const { actor } = this.token;
    if (actor === undefined) throw new GatewayError('not_found', 'No such resource.');
    this.token.check(request);
    return { actor, role: 'admin', person: null, reason: null };
  }

  /** A request with the token is its own proof. */
  private checkProof(operator: Operator): void {
    const { session } = operator;
    if (session === undefined) return;
    if (session.provedUntilMs <= this.clock.nowMs()) {
      const message = 'Prove again that it is you: your last proof is older than 5 minutes.';
      throw new GatewayError('permission_denied', message, { param: 'proof' });
    }
    checkReason(operator);
  }
}

/** Who acts with the token has no session, and gives no reason. */
function checkReason({ session, reason }: Operator): void {
  if (session === undefined || reason !== null) return;
  const message = `Say why, in the header ${REASON_HEADER}.`;
  throw new GatewayError('invalid_request', message, { param: REASON_HEADER });
}

function checkRole(role: Role, needed: Role): void {
  if (reaches(role, needed)) return;
  const message = `This needs the role ${needed}. Yours is ${role}.`;
  throw new GatewayError('permission_denied', message, { param: 'role' });
}
