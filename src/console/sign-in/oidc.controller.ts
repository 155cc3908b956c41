import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Clock } from '../../common/time/clock.js';
import { FailedAttemptLimiter } from '../../platform/http-server/client-limits/failed-attempt-limiter.js';
import { type PageOrigin, PageOrigins } from './page-origin.js';
import {
  attemptOf,
  clearAttemptCookie,
  sessionSecretOf,
  setAttemptCookie,
  setSessionCookie,
} from './session-cookie.js';
import { HOME, SignInAttempt } from './sign-in-attempt.js';
import { OidcSignIn } from './oidc-sign-in.js';

/** Each asks the provider, so an address may not do it without end. */
const FAILURES_PER_MINUTE = 20;

/**
 * Signing in with the identity provider (docs/operate/console.md). The browser goes to both paths itself, so they answer with
 * redirects. They are not in the OpenAPI document.
 */
@ApiExcludeController()
@Controller('console/oidc')
export class OidcController {
  private readonly failures: FailedAttemptLimiter;

  constructor(
    private readonly signIns: OidcSignIn,
    private readonly origins: PageOrigins,
    private readonly clock: Clock,
  ) {
    this.failures = new FailedAttemptLimiter(FAILURES_PER_MINUTE, clock);
  }

  /** Sends the browser to the provider. `proof=1`: the operator of the session proves again who it is. */
  @Get('start')
  async start(
    @Req() request: Request,
    @Res() response: Response,
    @Query('return') returnPath?: unknown,
    @Query('proof') proof?: unknown,
  ): Promise<void> {
    const page = this.check(request);
    const secret = sessionSecretOf(request, page);
    const path = typeof returnPath === 'string' ? returnPath : undefined;
    const isProof = proof === '1';
    await this.redirected(request, response, async () => {
      if (isProof) await this.signIns.checkProvable(secret, request.ip);
      const terms = { returnPath: path, isProof, former: secret };
      const attempt = SignInAttempt.start(this.clock.nowMs(), terms);
      const url = await this.signIns.urlOf(attempt);
      setAttemptCookie(response, page, attempt.toString());
      return url;
    });
  }

  /** Where the provider sends the browser back to. */
  @Get('callback')
  async callback(@Req() request: Request, @Res() response: Response): Promise<void> {
    const page = this.check(request);
    const attempt = SignInAttempt.parse(attemptOf(request, page), this.clock.nowMs());
    clearAttemptCookie(response, page);
    await this.redirected(request, response, async () => {
      const secret = await this.signIns.finish(attempt, request, sessionSecretOf(request, page));
      setSessionCookie(response, page, secret);
      return this.signIns.urlOfPath(attempt?.returnPath ?? HOME);
    });
  }

  private check(request: Request): PageOrigin {
    if (!this.signIns.isSet) throw new GatewayError('not_found', 'No such path.');
    const page = this.origins.of(request);
    if (page === undefined) {
      const message = this.origins.refusalOf(request) ?? '';
      throw new GatewayError('permission_denied', message, { param: 'PUBLIC_URL' });
    }
    const waitMs = this.failures.waitMs(request.ip);
    if (waitMs > 0) {
      const message = 'Your address has failed to sign in too often. Wait a minute.';
      throw new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds: waitMs / 1_000 });
    }
    return page;
  }

  /** To where `find` says; what goes wrong is told on the page, by a code: the address of the page may be anybody's. */
  private async redirected(
    request: Request,
    response: Response,
    find: () => Promise<URL>,
  ): Promise<void> {
    response.setHeader('Cache-Control', 'no-store');
    const url = await find().catch((error: unknown) => {
      const problem = this.signIns.problemOf(error);
      // Only where the provider was asked: any page can send a browser here.
      if (problem === 'provider' || problem === 'no_role') this.failures.failed(request.ip);
      const home = this.signIns.urlOfPath(HOME);
      home.searchParams.set('sign_in_error', problem);
      return home;
    });
    response.redirect(302, url.href);
  }
}
