import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { operatorActorsOf } from '../../auth/operators/operator-actors.js';
import type { ConsoleSession } from '../../auth/sessions/console-session.js';
import { ConsoleSessions } from '../../auth/sessions/console-sessions.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import { loggableError } from '../../platform/observability/logger.js';
import { SignInService } from './sign-in.service.js';
import { IdentityProvider } from './identity-provider.js';
import type { SignInAttempt } from './sign-in-attempt.js';

const CALLBACK = '/console/oidc/callback';

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

  /** The id of the session of a secret, if its operator can prove who it is here. Throws 403. */
  async provable(secret: string | undefined, address: string | undefined): Promise<string> {
    const live = await this.signIns.find(secret, address);
    if (live === undefined || !this.isOwn(live.session)) {
      throw new GatewayError('permission_denied', 'This session was not opened here.');
    }
    return live.session.id;
  }

  /**
   * Opens a session for the operator who came back, and returns its secret. `former` is the secret of the session that the
   * browser has. Throws 401 for an answer that is not that of the attempt, and 403 for somebody without a role.
   */
  async finish(
    attempt: SignInAttempt | undefined,
    request: Request,
    former: string | undefined,
  ): Promise<string> {
    if (attempt === undefined) {
      throw new GatewayError(
        'invalid_token',
        'Signing in took too long, or began elsewhere. Try again.',
      );
    }
    const query = new URL(request.originalUrl, this.gateway.href).search;
    const url = new URL(this.urlOfPath(CALLBACK).href + query);
    const operator = await this.provider.operatorOf(url, attempt);
    if (operator === undefined) {
      throw new GatewayError(
        'permission_denied',
        'You have no role here. Ask who keeps the gateway.',
      );
    }
    const { person, role, provedAt } = operator;
    const holder = { kind: 'operator', actor: this.actor, person, role } as const;
    const { secret } = await this.signIns.open(holder, request.ip, former, provedAt);
    await this.endProven(attempt, person);
    return secret;
  }

  /** What the person is told of an error. Others than ours may quote what the provider said, and are logged. */
  told(error: unknown): string {
    if (error instanceof GatewayError) return error.message;
    this.logger.warn(
      { cause: loggableError(error) },
      'signing in with the identity provider failed',
    );
    return 'The identity provider did not let you in, or did not answer. Try again; the log of the gateway says more.';
  }

  /** The browser sends its cookie not on the way back from another site, so the attempt names the session that goes on. */
  private async endProven({ provenSessionId: id }: SignInAttempt, person: string): Promise<void> {
    if (id !== undefined) await this.sessions.endOwn(id, this.actor, person);
  }

  private isOwn({ holder }: ConsoleSession): boolean {
    return holder.kind === 'operator' && holder.actor === this.actor;
  }
}
