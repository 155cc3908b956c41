import assert from 'node:assert/strict';
import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import type { Caller } from '../caller.js';
import type { TokenBuckets, TokenOutcome } from './token-bucket.js';

/** Injection token of the {@link TokenBuckets}. */
export const TOKEN_BUCKETS = Symbol('TOKEN_BUCKETS');

/** Reads have their own bucket, so that polling at the recommended interval is never limited (decision G-14). */
const READ_FACTOR = 10;

const COUNTS_AS_READ = Symbol('COUNTS_AS_READ');

/** The requests of a POST endpoint that changes nothing count as reads. */
export const CountsAsRead = (): MethodDecorator => SetMetadata(COUNTS_AS_READ, true);

interface Requests {
  readonly isRead: boolean;
  readonly count: number;
}

/** Whose limit is asked: that of the key, or of the key that made it. */
interface LimitedKey {
  readonly id: string;
  readonly name: string;
  readonly requestsPerMinute: number | null;
}

/**
 * Limits requests per key and minute, submissions and reads separately, and sends the state of the limit in headers. Requests of
 * a key that another key made count for that key too, so that keys that are made do not multiply its limit. Throws 429
 * `rate_limit_exceeded` with `Retry-After` (API: Errors).
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_BUCKETS) private readonly buckets: TokenBuckets,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { caller, method } = request;
    assert(caller, 'RateLimitGuard needs BearerGuard before it');
    const isRead =
      method === 'GET' ||
      method === 'HEAD' ||
      this.reflector.get<true | undefined>(COUNTS_AS_READ, context.getHandler()) === true;
    await this.take(caller, http.getResponse<Response>(), { isRead, count: 1 });
    return true;
  }

  /** Counts further reads of a request that does the work of several. Throws 429 `rate_limit_exceeded` if they do not fit. */
  async takeReads(caller: Caller, response: Response, count: number): Promise<void> {
    if (count > 0) await this.take(caller, response, { isRead: true, count });
  }

  /** First from the key itself, so that what one key sends too much takes nothing from the others of its maker. */
  private async take(
    { apiKeyId, requestsPerMinute, makerId, makerRequestsPerMinute }: Caller,
    response: Response,
    requests: Requests,
  ): Promise<void> {
    const own = { id: apiKeyId, name: 'This API key', requestsPerMinute };
    const left = await this.takeOf(own, response, requests, Infinity);
    if (makerId === undefined) return;
    const name = 'The key that made this API key, with all that it made,';
    const maker = { id: makerId, name, requestsPerMinute: makerRequestsPerMinute ?? null };
    await this.takeOf(maker, response, requests, left);
  }

  /** Tells the state of this limit, if it leaves fewer than `shown`. Returns how many are left. */
  private async takeOf(
    { id, name, requestsPerMinute }: LimitedKey,
    response: Response,
    { isRead, count }: Requests,
    shown: number,
  ): Promise<number> {
    const submissionLimit = requestsPerMinute ?? this.config.rateLimitRpm;
    if (submissionLimit === 0) return Infinity;
    const limit = isRead ? submissionLimit * READ_FACTOR : submissionLimit;
    const bucket = `${id}:${isRead ? 'read' : 'submit'}`;
    const outcome = await this.buckets.take(bucket, limit, count);
    const { allowed, remaining } = outcome;
    if (!allowed || remaining < shown) setLimitHeaders(response, limit, outcome);
    if (allowed) return remaining;
    const kind = isRead ? 'reads' : 'requests';
    const seconds = Math.max(1, Math.ceil(outcome.retryAfterMs / 1_000));
    throw new GatewayError(
      'rate_limit_exceeded',
      `${name} may send ${limit} ${kind} a minute. Try again in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    );
  }
}

function setLimitHeaders(response: Response, limit: number, outcome: TokenOutcome): void {
  response.setHeader('x-ratelimit-limit-requests', String(limit));
  response.setHeader('x-ratelimit-remaining-requests', String(outcome.remaining));
  response.setHeader('x-ratelimit-reset-requests', `${Math.ceil(outcome.resetMs)}ms`);
}
