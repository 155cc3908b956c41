import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { BearerGuard } from '../../auth/bearer.guard.js';
import { ScopeGuard } from '../../auth/scope.guard.js';
import { RateLimitGuard, TOKEN_BUCKETS } from '../../auth/rate-limit/rate-limit.guard.js';
import type { TokenBuckets } from '../../auth/rate-limit/token-bucket.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { ipPrefixOf } from '../../platform/http-server/client-limits/connections-per-ip.js';
import { ContentLinks } from './content-links.js';
import { LinkOwners } from './link-owners.js';

/** Most reads with links per minute, for an account and for an IP address. The same as the default limit of a key. */
const READS_PER_MINUTE = 6_000;

/**
 * Accepts a signed link, or a key as every other endpoint does (decision G-104). A valid link is accepted whatever key is sent
 * with it; otherwise the key decides. Without a key, an invalid or expired link is 401 `invalid_token`. The link of a disabled
 * account is 403 `account_disabled`. Above the rate limit of links: 429.
 */
@Injectable()
export class ContentReaderGuard implements CanActivate {
  constructor(
    private readonly links: ContentLinks,
    private readonly owners: LinkOwners,
    private readonly bearer: BearerGuard,
    private readonly limit: RateLimitGuard,
    private readonly scope: ScopeGuard,
    @Inject(TOKEN_BUCKETS) private readonly buckets: TokenBuckets,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { expires, signature } = request.query;
    if (expires === undefined && signature === undefined) return this.acceptsKey(context);
    // A page that shows the file must not leak the link in Referer headers.
    http.getResponse<Response>().setHeader('Referrer-Policy', 'no-referrer');
    const id = String(request.params.id);
    if (this.links.isGood(id, expires, signature)) return this.acceptsLink(request, id);
    if (request.headers.authorization !== undefined) return this.acceptsKey(context);
    throw new GatewayError('invalid_token', 'The link is wrong or has expired.', {
      param: 'signature',
    });
  }

  private async acceptsKey(context: ExecutionContext): Promise<boolean> {
    for (const guard of [this.bearer, this.limit, this.scope]) await guard.canActivate(context);
    return true;
  }

  private async acceptsLink(request: Request, id: string): Promise<boolean> {
    await this.take(`link-address:${ipPrefixOf(request.ip)}`);
    const owner = await this.owners.of(id);
    if (owner.isDisabled) {
      throw new GatewayError('account_disabled', 'The account of this link is disabled.');
    }
    await this.take(`link-account:${owner.accountId}`);
    request.linkHolder = { accountId: owner.accountId };
    return true;
  }

  private async take(bucket: string): Promise<void> {
    const { allowed, retryAfterMs } = await this.buckets.take(bucket, READS_PER_MINUTE);
    if (allowed) return;
    throw new GatewayError(
      'rate_limit_exceeded',
      'Too many requests with links. Try again after the seconds in Retry-After.',
      {
        retryAfterSeconds: retryAfterMs / 1_000,
      },
    );
  }
}
