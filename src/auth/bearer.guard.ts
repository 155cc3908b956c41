import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Caller } from './caller.js';
import { KeyCache } from './key-cache.js';
import { UnknownKeyLimiter } from './unknown-key-limiter.js';
import { sentKeyOf } from './sent-key.js';
import { KeyLastUsed } from './key-last-used.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the bearer guard. */
    caller?: Caller;
    /** The caller of a session of the console, for a call of its page. */
    sessionCaller?: Caller;
    /** The session of the console that the call is one of. */
    sessionId?: string;
  }
}

/** The same message for a missing, unknown, expired or revoked key (decision G-17); other headers are not read. */
export const INVALID_TOKEN_MESSAGE =
  'The API key is missing, invalid or revoked. Send it in the header `Authorization: Bearer <key>`.';

/**
 * Accepts only live keys and notes the caller on the request. Throws 401 `invalid_token` (API: Authentication), 403
 * `account_disabled` (decision G-99), 429 for an address that sent too many unknown keys.
 */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly keys: KeyCache,
    private readonly uses: KeyLastUsed,
    private readonly unknownKeys: UnknownKeyLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { sessionCaller } = request;
    request.caller =
      sessionCaller === undefined
        ? await this.admit(sentKeyOf(request), request.ip)
        : this.accept(sessionCaller);
    return true;
  }

  /** The caller of a key that was sent as `param`. Throws as the guard does. */
  async admit(
    key: string | undefined,
    address: string | undefined,
    param = 'Authorization',
  ): Promise<Caller> {
    const caller = key === undefined ? undefined : await this.find(key, address);
    if (caller === undefined) throw invalidToken(param);
    return this.accept(caller);
  }

  /** Throws 429 for an address that has to wait before it guesses again. */
  checkGuesses(address: string | undefined): void {
    const waitMs = this.unknownKeys.waitMs(address);
    if (waitMs === 0) return;
    const seconds = Math.ceil(waitMs / 1_000);
    const message = `Your address has sent too many unknown API keys. Try again in ${seconds} s.`;
    throw new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds: seconds });
  }

  /** Counts a guess of the address. */
  noteGuess(address: string | undefined): void {
    this.unknownKeys.failed(address);
  }

  private accept(caller: Caller): Caller {
    if (caller.isDisabled) throw disabledAccount();
    if (!caller.isWithoutKey) this.uses.note(caller.apiKeyId);
    return caller;
  }

  /** A key that was live before is looked up even if its address has sent too many unknown keys. */
  private async find(key: string, address: string | undefined): Promise<Caller | undefined> {
    if (!this.keys.accountOf(key)) this.checkGuesses(address);
    const caller = await this.keys.find(key);
    if (caller === undefined) this.noteGuess(address);
    return caller;
  }
}

/** 401 `invalid_token` for a key that is sent as `param`. */
export function invalidToken(param = 'Authorization'): GatewayError {
  return new GatewayError('invalid_token', INVALID_TOKEN_MESSAGE, { param });
}

/** 403 `account_disabled`. */
export function disabledAccount(): GatewayError {
  return new GatewayError('account_disabled', 'The account of this API key is disabled.');
}
