import type { Request } from 'express';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { BearerToken } from '../../../common/secrets/bearer-token.js';
import type { Clock } from '../../../common/time/clock.js';
import { FailedAttemptLimiter } from './failed-attempt-limiter.js';

/** Wrong tokens per address and minute, shared by the processes. Beyond it the address has to wait, even with the right token. */
const WRONG_TOKENS_PER_MINUTE = 10;

/** What an {@link StaticBearerToken} asks for. */
interface OperatorTokenOptions {
  /** In errors: 'admin', 'metrics'. */
  readonly name: string;
  readonly token: string;
  /** Processes that listen on the same port. */
  readonly workers: number;
  readonly clock: Clock;
}

/**
 * A bearer token that the operator has set. After ten wrong tokens an address has to wait, so the token cannot be
 * guessed.
 */
export class StaticBearerToken {
  private readonly name: string;
  private readonly token: BearerToken;
  private readonly wrong: FailedAttemptLimiter;

  constructor({ name, token, workers, clock }: OperatorTokenOptions) {
    this.name = name;
    this.token = new BearerToken(token);
    this.wrong = new FailedAttemptLimiter(Math.ceil(WRONG_TOKENS_PER_MINUTE / workers), clock);
  }

  /**
   * Accepts a request with the token. Throws `invalid_token`, and `rate_limit_exceeded` after too many wrong ones. `param`
   * is where the caller sent the token.
   */
  check({ headers, ip }: Pick<Request, 'headers' | 'ip'>, param = 'Authorization'): void {
    const waitMs = this.wrong.waitMs(ip);
    if (waitMs > 0) {
      throw new GatewayError(
        'rate_limit_exceeded',
        `Your address has sent too many wrong ${this.name} tokens. Try again after the seconds in Retry-After.`,
        {
          retryAfterSeconds: waitMs / 1_000,
        },
      );
    }
    if (this.token.isIn(headers.authorization)) return;
    // A request without a token is not a guess.
    if (headers.authorization !== undefined) this.wrong.failed(ip);
    throw new GatewayError('invalid_token', `The ${this.name} token is missing or wrong.`, {
      param,
    });
  }
}
