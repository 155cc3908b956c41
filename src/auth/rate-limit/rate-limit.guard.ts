import assert from 'node:assert/strict';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import type { TokenBuckets, TokenOutcome } from './token-bucket.js';

/** Injection token of the {@link TokenBuckets}. */
export const TOKEN_BUCKETS = Symbol('TOKEN_BUCKETS');

/** Reads have their own bucket, so that polling at the recommended interval is never limited (decision G-14). */
const READ_FACTOR = 10;

/**
 * Limits requests per key and minute, submissions and reads separately, and sends the state of the limit in headers.
 * Throws 429 `rate_limit_exceeded` with `Retry-After` (API: Errors).
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_BUCKETS) private readonly buckets: TokenBuckets,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    assert(request.caller, 'RateLimitGuard needs BearerGuard before it');
    const submissionLimit = request.caller.requestsPerMinute ?? this.config.rateLimitRpm;
    if (submissionLimit === 0) return true;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const limit = isRead ? submissionLimit * READ_FACTOR : submissionLimit;
    const bucket = `${request.caller.apiKeyId}:${isRead ? 'read' : 'submit'}`;
    const outcome = await this.buckets.take(bucket, limit);
    setLimitHeaders(http.getResponse<Response>(), limit, outcome);
    if (outcome.allowed) return true;
    const kind = isRead ? 'reads' : 'requests';
    const seconds = Math.max(1, Math.ceil(outcome.retryAfterMs / 1_000));
    throw new GatewayError(
      'rate_limit_exceeded',
      `This API key may send ${limit} ${kind} a minute. Try again in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    );
  }
}

function setLimitHeaders(response: Response, limit: number, outcome: TokenOutcome): void {
  response.setHeader('x-ratelimit-limit-requests', String(limit));
  response.setHeader('x-ratelimit-remaining-requests', String(outcome.remaining));
  response.setHeader('x-ratelimit-reset-requests', `${Math.ceil(outcome.resetMs)}ms`);
}
