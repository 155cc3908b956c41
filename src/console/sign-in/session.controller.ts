import { Controller, Delete, Get, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import assert from 'node:assert/strict';
import type { Request, Response } from 'express';
import { bodyInApiFamily } from '../../common/errors/error-body.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { StrictBody } from '../../common/validation/strict-body.pipe.js';
import {
  BodyLimit,
  JsonBodyGuard,
} from '../../platform/http-server/request-body/json-body.guard.js';
import { requestIdOf } from '../../platform/http-server/responses/execution-id.js';
import { IdentityProvider } from './identity-provider.js';
import { notSignedIn } from './console-requests.js';
import { OwnPageGuard } from './own-page.guard.js';
import { type PageOrigin, PageOrigins } from './page-origin.js';
import {
  clearSessionCookie,
  isPollOfPage,
  sessionSecretOf,
  setSessionCookie,
} from './session-cookie.js';
import { type SessionView, type SignInView, viewSession } from './session.view.js';
import { PortalBody, ProofBody, SignInBody } from './sign-in.bodies.js';
import { type LiveSession, SignInService } from './sign-in.service.js';

/** A secret has at most 4,096 characters, and whoever sends a body here is not known yet. */
const BODY_BYTES = 32_768;
const BODY_VALUES = 10;

/**
 * The session of the browser (docs/operate/console.md). It is not in the OpenAPI document: only the page of this gateway may
 * use it.
 */
@ApiExcludeController()
@Controller('console/session')
export class SessionController {
  constructor(
    private readonly signIns: SignInService,
    private readonly origins: PageOrigins,
    private readonly ownPage: OwnPageGuard,
    private readonly provider: IdentityProvider,
  ) {}

  /** Without a session 401, with the ways of signing in beside the error. */
  @Get()
  async retrieveSession(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    response.setHeader('Cache-Control', 'no-store');
    const signIn = this.waysOf(request);
    // Where nobody may sign in no cookie is read, so any page may know it.
    const page = signIn.refused === null ? this.ownPage.check(request) : undefined;
    const secret = page && sessionSecretOf(request, page);
    const live = await this.signIns.find(secret, request.ip, isPollOfPage(request));
    if (live !== undefined) return this.view(live, request);
    response.status(401);
    const error = bodyInApiFamily(notSignedIn(), 'general', requestIdOf(response));
    return { ...error, sign_in: signIn };
  }

  @Post()
  @UseGuards(OwnPageGuard, JsonBodyGuard)
  @BodyLimit(BODY_BYTES, BODY_VALUES)
  async signIn(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @StrictBody() body: SignInBody,
  ): Promise<SessionView> {
    const page = pageOf(request);
    const former = sessionSecretOf(request, page);
    const { secret, ...live } = await this.signIns.signIn(body, request.ip, former);
    setSessionCookie(response, page, secret);
    return this.view(live, request);
  }

  /** Whom a link lets in, so that the page can ask before it ends the session that is open. */
  @Post('portal')
  @HttpCode(200)
  @UseGuards(OwnPageGuard, JsonBodyGuard)
  @BodyLimit(BODY_BYTES, BODY_VALUES)
  async describeLink(
    @Req() request: Request,
    @StrictBody() { portal }: PortalBody,
  ): Promise<{ account_id: string }> {
    const accountId = await this.signIns.accountOfLink(portal, request.ip);
    return { account_id: toPublicId('acct', accountId) };
  }

  @Post('proof')
  @HttpCode(200)
  @UseGuards(OwnPageGuard, JsonBodyGuard)
  @BodyLimit(BODY_BYTES, BODY_VALUES)
  async prove(@Req() request: Request, @StrictBody() { token }: ProofBody): Promise<SessionView> {
    const live = await this.signIns.find(sessionSecretOf(request, pageOf(request)), request.ip);
    if (live === undefined) throw notSignedIn();
    const session = await this.signIns.prove(live, token, request.ip);
    if (session === undefined) throw notSignedIn();
    return this.view({ ...live, session }, request);
  }

  /** Also without a session, so that signing out twice is no error. */
  @Delete()
  @HttpCode(204)
  @UseGuards(OwnPageGuard)
  async signOut(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const page = pageOf(request);
    const secret = sessionSecretOf(request, page);
    if (secret !== undefined) await this.signIns.signOut(secret, request.ip);
    clearSessionCookie(response, page);
  }

  private view({ session, caller }: LiveSession, request: Request): SessionView {
    return viewSession(session, caller, this.waysOf(request));
  }

  private waysOf(request: Request): SignInView {
    return {
      operator: this.signIns.takesToken,
      oidc: this.provider.isSet,
      refused: this.origins.refusalOf(request),
    };
  }
}

function pageOf({ page }: Request): PageOrigin {
  assert(page, 'the handler needs OwnPageGuard');
  return page;
}
