import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type PageOrigin, PageOrigins } from './page-origin.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** How the browser reached the page. Set by {@link OwnPageGuard}. */
    page?: PageOrigin;
  }
}

/**
 * Accepts only requests of the page of this gateway, reads too. Throws 403 `permission_denied` for those of other pages, and
 * where nobody may sign in, because the way to the gateway is not safe.
 */
@Injectable()
export class OwnPageGuard implements CanActivate {
  constructor(private readonly origins: PageOrigins) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    http.getResponse<Response>().setHeader('Cache-Control', 'no-store');
    this.check(http.getRequest<Request>());
    return true;
  }

  /** Also for requests that are no business of Nest yet. */
  check(request: Request): PageOrigin {
    const page = this.origins.of(request);
    if (page === undefined) {
      const message = this.origins.refusalOf(request) ?? '';
      throw new GatewayError('permission_denied', message, { param: 'PUBLIC_URL' });
    }
    if (!isFromOwnPage(request, page)) {
      const message = 'Only the page of this gateway at /console/ may ask for this.';
      throw new GatewayError('permission_denied', message, { param: 'Sec-Fetch-Site' });
    }
    request.page = page;
    return page;
  }
}

/** Browsers set both headers themselves; no page can. Where there is no `Sec-Fetch-Site`, the browser is an old one. */
function isFromOwnPage({ headers }: Request, { origin }: PageOrigin): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin === origin : site === 'same-origin';
}
