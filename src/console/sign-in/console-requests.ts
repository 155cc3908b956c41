import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { type Operator, READING_METHODS, REASON_HEADER } from '../../auth/operators/operator.js';
import { type ConsoleSession, provedUntilMs } from '../../auth/sessions/console-session.js';
import { ConsoleSessions } from '../../auth/sessions/console-sessions.js';
import { SessionCallers } from '../../auth/sessions/session-callers.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { OwnPageGuard } from './own-page.guard.js';
import { isPollOfPage, sessionSecretOf } from './session-cookie.js';

/** Below it the page calls the API. */
const PREFIX = '/console/api';
const CALLS = /^\/(v1|admin)\//;
/** A form of another site cannot send the first without asking; the second only what takes an upload reads. */
const BODY_TYPES = /^(?:application\/json|multipart\/form-data)\s*(?:;|$)/i;
const MAX_REASON_CHARACTERS = 500;

/** The 401 of a request whose session has ended, or that never had one. */
export const notSignedIn = (): GatewayError =>
  new GatewayError('invalid_token', 'You are not signed in, or your session has ended.', {
    param: 'Cookie',
  });

/**
 * The calls of the page: `/console/api/v1/…` and `/console/api/admin/…`. Each is served by the handler of the path behind the
 * prefix, as a call of the key or the operator of the session. Only here is a cookie read; `/v1` and `/admin` never do.
 */
@Injectable()
export class ConsoleRequests {
  constructor(
    private readonly ownPage: OwnPageGuard,
    private readonly sessions: ConsoleSessions,
    private readonly callers: SessionCallers,
  ) {}

  /** Middleware: hands the calls of the page on to their handlers. `refuse` answers those that are not admitted. */
  middleware(refuse: (error: unknown, request: Request, response: Response) => void) {
    return (request: Request, response: Response, next: NextFunction): void => {
      const { path } = request;
      if (path !== PREFIX && !path.startsWith(`${PREFIX}/`)) {
        next();
        return;
      }
      this.admit(request, response).then(
        () => {
          next();
        },
        (error: unknown) => {
          refuse(error, request, response);
        },
      );
    };
  }

  /**
   * Notes on the request who asks, and takes the prefix off its path. Throws 403 `permission_denied` for requests of other pages
   * and for the API of the other kind of session, 401 `invalid_token` without a session, 400 and 404.
   */
  private async admit(request: Request, response: Response): Promise<void> {
    const page = this.ownPage.check(request);
    // What one session reads must not be shown in the next.
    response.setHeader('Cache-Control', 'no-store');
    const target = request.url.slice(PREFIX.length);
    const [, api] = CALLS.exec(target) ?? [];
    if (api === undefined) throw new GatewayError('not_found', 'No such path.');
    checkBodyType(request);
    const secret = sessionSecretOf(request, page);
    const session = secret && (await this.sessions.use(secret, request.ip, isPollOfPage(request)));
    if (!session) throw notSignedIn();
    if (api === 'admin') request.operator = operatorOf(session, request);
    else request.sessionCaller = await this.callerOf(session);
    request.sessionId = session.id;
    request.url = target;
    // The form of errors goes by it.
    request.originalUrl = target;
  }

  private async callerOf(session: ConsoleSession) {
    if (session.holder.kind === 'operator') {
      throw wrongKind('Sign in with an API key to call the API of customers.');
    }
    const caller = await this.callers.of(session);
    if (caller === undefined) throw notSignedIn();
    return caller;
  }
}

function operatorOf(session: ConsoleSession, request: Request): Operator {
  const { holder } = session;
  if (holder.kind === 'customer') throw wrongKind('Sign in as an operator for this.');
  const { actor, role, person, identity } = holder;
  const kept = { id: session.id, provedUntilMs: provedUntilMs(session) };
  return { actor, role, person, identity, reason: reasonOf(request), session: kept };
}

function wrongKind(message: string): GatewayError {
  return new GatewayError('permission_denied', message, { param: 'role' });
}

function checkBodyType({ method, headers }: Request): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  const hasBody = encoding !== undefined || Number(length) !== 0;
  if (READING_METHODS.includes(method) || !(hasBody || headers['content-type'] !== undefined))
    return;
  if (BODY_TYPES.test(headers['content-type'] ?? '')) return;
  const message = 'Content-Type must be application/json, or multipart/form-data for an upload.';
  throw new GatewayError('invalid_content_type', message, { param: 'Content-Type' });
}

/** It is percent-encoded, because a header has no other letters than those of ASCII. */
function reasonOf({ headers }: Request): string | null {
  const sent = headers[REASON_HEADER];
  if (sent === undefined) return null;
  assert(typeof sent === 'string');
  const reason = decoded(sent)?.trim();
  if (reason === undefined || reason === '' || reason.length > MAX_REASON_CHARACTERS) {
    const message = `${REASON_HEADER} must be percent-encoded UTF-8 of 1 to ${MAX_REASON_CHARACTERS} characters.`;
    throw new GatewayError('invalid_request', message, { param: REASON_HEADER });
  }
  return reason;
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text);
    return plain.includes('\0') ? undefined : plain;
  } catch {
    return undefined;
  }
}
