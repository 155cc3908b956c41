import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { operatorActorsOf } from '../../auth/operators/operator-actors.js';
import type { ConsoleSession } from '../../auth/sessions/console-session.js';
import { ConsoleSessions } from '../../auth/sessions/console-sessions.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import { loggableError } from '../../platform/observability/logger.js';
import { SignInRate } from './sign-in-rate.js';
import { SignInService } from './sign-in.service.js';
import { IdentityProvider } from './identity-provider.js';
import type { SignInAttempt } from './sign-in-attempt.js';

const CALLBACK = '/console/oidc/callback';

/** What the page has sentences for; the address of the page has no other words. */
export type SignInProblem = 'too_late' | 'no_role' | 'not_this_session' | 'too_often' | 'provider';

/** A refusal of this gateway. */
class RefusedSignIn extends Error {
  constructor(readonly problem: SignInProblem) {
    super(problem);
  }
}

/** Opens sessions for operators whom the identity provider lets in. */
@Injectable()
export class OidcSignIn {
  private readonly logger = new Logger(OidcSignIn.name);
  private readonly actor: string;

  constructor(
    private readonly provider: IdentityProvider,
    private readonly signIns: SignInService,
    private readonly sessions: ConsoleSessions,
    private readonly gateway: GatewayUrl,
    private readonly rate: SignInRate,
    @Inject(GATEWAY_CONFIG) config: GatewayConfig,
  ) {
    this.actor = operatorActorsOf(config).oidc ?? '';
  }

  get isSet(): boolean {
    return this.provider.isSet;
  }

  /** The whole URL of a path of the page. */
  urlOfPath(path: string): URL {
    return new URL(`${this.gateway.href}${path}`);
  }

  /** Where to send the browser first. */
  urlOf(attempt: SignInAttempt): Promise<URL> {
    return this.provider.signInUrl(attempt, this.urlOfPath(CALLBACK).href);
  }

  /** Throws unless the operator of the session can prove who it is here. */
  async checkProvable(secret: string | undefined, address: string | undefined): Promise<void> {
    const live = await this.signIns.find(secret, address);
    if (live === undefined || !this.isOwn(live.session))
      throw new RefusedSignIn('not_this_session');
  }

  /**
   * Opens a session for the operator who came back, and returns its secret. `former` is the secret of the session that the
   * browser has; it ends. Throws for an answer that is not that of the attempt, and for somebody without a role.
   */
  async finish(
    attempt: SignInAttempt | undefined,
    request: Request,
    former: string | undefined,
  ): Promise<string> {
    if (attempt === undefined) throw new RefusedSignIn('too_late');
    const query = new URL(request.originalUrl, this.gateway.href).search;
    const url = new URL(this.urlOfPath(CALLBACK).href + query);
    const operator = await this.provider.operatorOf(url, attempt);
    if (operator === undefined) throw new RefusedSignIn('no_role');
    await this.rate.countAddress(request.ip);
    const { person, identity, role, provedAt } = operator;
    const holder = { kind: 'operator', actor: this.actor, person, identity, role } as const;
    const { secret } = await this.signIns.open(holder, request.ip, former, provedAt);
    // From another site the browser does not send its cookie, so the attempt knows the session.
    if (attempt.formerHash !== undefined) await this.sessions.endByHash(attempt.formerHash);
    return secret;
  }

  /** What the person is told of an error. Others than ours may quote what the provider said, and are logged. */
  problemOf(error: unknown): SignInProblem {
    if (error instanceof RefusedSignIn) return error.problem;
    if (error instanceof GatewayError && error.code === 'rate_limit_exceeded') return 'too_often';
    this.logger.warn(
      { cause: loggableError(error) },
      'signing in with the identity provider failed',
    );
    return 'provider';
  }

  private isOwn({ holder }: ConsoleSession): boolean {
    return holder.kind === 'operator' && holder.actor === this.actor;
  }
}
