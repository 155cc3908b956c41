import { Injectable, Logger } from '@nestjs/common';
import { BearerGuard } from '../../auth/bearer.guard.js';
import type { Caller } from '../../auth/caller.js';
import { OperatorToken } from '../../auth/operators/operator-token.js';
import type { ConsoleSession, SessionHolder } from '../../auth/sessions/console-session.js';
import { ConsoleSessions, type OpenedSession } from '../../auth/sessions/console-sessions.js';
import { PortalLinks } from '../../auth/sessions/portal-links.js';
import { SessionCallers } from '../../auth/sessions/session-callers.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { SignInRate } from './sign-in-rate.js';
import type { SignInBody } from './sign-in.bodies.js';

/** A live session; of a customer also the caller as whom it calls. */
export interface LiveSession {
  readonly session: ConsoleSession;
  readonly caller: Caller | undefined;
}

/** Opens and ends the sessions of the console. */
@Injectable()
export class SignInService {
  private readonly logger = new Logger(SignInService.name);

  constructor(
    private readonly token: OperatorToken,
    private readonly keys: BearerGuard,
    private readonly links: PortalLinks,
    private readonly sessions: ConsoleSessions,
    private readonly callers: SessionCallers,
    private readonly rate: SignInRate,
  ) {}

  /** Whether operators can sign in with the admin token. */
  get takesToken(): boolean {
    return this.token.isSet;
  }

  /**
   * Opens a session for what was sent. `former` is the secret of the session that the browser has; it ends. Throws 400 unless
   * exactly one thing was sent, 401 `invalid_token` for a wrong one, 403 for a disabled account, 429 after too many guesses or
   * sessions.
   */
  async signIn(
    body: SignInBody,
    address: string | undefined,
    former: string | undefined,
  ): Promise<OpenedSession & LiveSession> {
    const holder = await this.holderOf(body, address);
    const opened = await this.open(holder, address, former);
    return { ...opened, caller: await this.callers.of(opened.session) };
  }

  /** Opens a session for somebody who was let in, and ends the former one. Throws 429 for a holder who opens too many. */
  async open(
    holder: SessionHolder,
    address: string | undefined,
    former: string | undefined,
    provedAt?: Date | null,
  ): Promise<OpenedSession> {
    await this.rate.countHolder(holder);
    if (former !== undefined) await this.sessions.endBySecret(former, address);
    const opened = await this.sessions.open(holder, address ?? null, provedAt);
    this.logger.log({ ...factsOf(opened.session), address }, 'signed in to the console');
    return opened;
  }

  /** The live session of a secret; undefined if it has ended, or its key has. `isPoll`: the page asks by itself. */
  async find(
    secret: string | undefined,
    address: string | undefined,
    isPoll = false,
  ): Promise<LiveSession | undefined> {
    const session = secret && (await this.sessions.use(secret, address, isPoll));
    if (!session) return undefined;
    const caller = await this.callers.of(session);
    return session.holder.kind === 'customer' && caller === undefined
      ? undefined
      : { session, caller };
  }

  /** Notes that the operator of a session has the token. Throws 403 for other sessions, 401 for a wrong token, 429. */
  async prove(
    { session }: LiveSession,
    token: string,
    address: string | undefined,
  ): Promise<ConsoleSession | undefined> {
    const { holder } = session;
    if (holder.kind !== 'operator' || holder.actor !== this.token.actor) {
      const message = 'This session was not opened with the admin token.';
      throw new GatewayError('permission_denied', message, { param: 'token' });
    }
    this.token.checkText(token, address);
    await this.rate.countAddress(address);
    return this.sessions.prove(session.id);
  }

  async signOut(secret: string, address: string | undefined): Promise<void> {
    await this.sessions.endBySecret(secret, address);
  }

  private async holderOf(
    { token, api_key: key, portal }: SignInBody,
    address: string | undefined,
  ): Promise<SessionHolder> {
    const sent = [token, key, portal].filter((value) => value !== undefined);
    if (sent.length !== 1) {
      throw new GatewayError('invalid_request', 'Send one of token, api_key and portal.');
    }
    if (token !== undefined) {
      const operator = this.operator(token, address);
      await this.rate.countAddress(address);
      return operator;
    }
    if (key !== undefined) {
      const { accountId, apiKeyId } = await this.keys.admit(key, address, 'api_key');
      await this.rate.countAddress(address);
      return { kind: 'customer', accountId, apiKeyId };
    }
    return this.customer(portal ?? '', address);
  }

  private operator(token: string, address: string | undefined): SessionHolder {
    const { actor } = this.token;
    if (actor === undefined) {
      throw new GatewayError('invalid_token', 'There is no admin token.', { param: 'token' });
    }
    this.token.checkText(token, address);
    return { kind: 'operator', actor, role: 'admin', person: null };
  }

  /** The id of the account that a link lets in, which is not used up. Throws as {@link signIn}. */
  async accountOfLink(portal: string, address: string | undefined): Promise<string> {
    const accountId = await this.accountBy(address, () => this.links.find(portal));
    await this.rate.countAddress(address);
    return accountId;
  }

  private async customer(portal: string, address: string | undefined): Promise<SessionHolder> {
    // A refused link is not used up.
    await this.accountOfLink(portal, address);
    const accountId = await this.accountBy(address, () => this.links.take(portal));
    return { kind: 'customer', accountId, apiKeyId: null };
  }

  private async accountBy(
    address: string | undefined,
    look: () => Promise<string | undefined>,
  ): Promise<string> {
    this.keys.checkGuesses(address);
    const accountId = await look();
    if (accountId === undefined) {
      this.keys.noteGuess(address);
      const message = 'The link was used before, or is older than ten minutes. Ask for a new one.';
      throw new GatewayError('invalid_token', message, { param: 'portal' });
    }
    return accountId;
  }
}

function factsOf({ id, holder }: ConsoleSession) {
  const session_id = toPublicId('ses', id);
  if (holder.kind === 'operator') {
    return { session_id, kind: holder.kind, role: holder.role, person: holder.person };
  }
  const { apiKeyId } = holder;
  const api_key_id = apiKeyId === null ? undefined : toPublicId('key', apiKeyId);
  return {
    session_id,
    kind: holder.kind,
    account_id: toPublicId('acct', holder.accountId),
    api_key_id,
  };
}
