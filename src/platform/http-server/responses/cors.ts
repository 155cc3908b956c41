import type { NextFunction, Request, Response } from 'express';
import { NEXT_CURSOR_HEADER } from '../../../common/paging/page.view.js';
import { KEPT_HEADER, REPLAYED_HEADER, SANDBOX_HEADER } from './answer-copy.js';
import {
  CHARGE_HEADER,
  IGNORED_FIELDS_HEADER,
  OUTPUT_CAP_HEADER,
  OUTPUT_CAP_REASON_HEADER,
} from './gateway-headers.js';
import { EVERY_ORIGIN } from './every-origin.js';
import { ID_HEADERS } from './execution-id.js';

/** How long a browser may remember the permission, in seconds. */
const MAX_AGE_SECONDS = 600;
const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
/** Headers that callers and stock SDKs send. A browser asks for permission to send them. */
const HEADER_NAMES = /^[\w-]{1,64}(?:\s*,\s*[\w-]{1,64}){0,63}$/;
const EXPOSED = [
  ...ID_HEADERS,
  CHARGE_HEADER,
  'x-client-request-id',
  'x-gateway-task-id',
  SANDBOX_HEADER,
  IGNORED_FIELDS_HEADER,
  OUTPUT_CAP_HEADER,
  OUTPUT_CAP_REASON_HEADER,
  REPLAYED_HEADER,
  KEPT_HEADER,
  NEXT_CURSOR_HEADER,
  'Location',
  'Retry-After',
  'x-should-retry',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'Preference-Applied',
  'openai-poll-after-ms',
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'ETag',
].join(', ');

/** The paths that pages of other origins may call: the API of callers and its document, never the operator API. */
const OPEN_PATHS = /^\/(?:v1\/|openapi\.json$)/;

/**
 * Middleware. Pages of the named origins, or of every origin, may read the responses of the API, errors and streams
 * included. It also responds to the preflight requests of browsers. Cookies are never allowed: the key is in a header.
 */
export function corsFor(origins: readonly string[]) {
  const known = new Set(origins);
  return (request: Request, response: Response, next: NextFunction): void => {
    if (!OPEN_PATHS.test(request.path)) {
      next();
      return;
    }
    const isOpen = known.has(EVERY_ORIGIN);
    if (!isOpen) response.vary('Origin');
    const { origin } = request.headers;
    if (origin === undefined || !(isOpen || known.has(origin))) {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Origin', isOpen ? EVERY_ORIGIN : origin);
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
      respondToPreflight(request, response);
      return;
    }
    response.setHeader('Access-Control-Expose-Headers', EXPOSED);
    next();
  };
}

function respondToPreflight(request: Request, response: Response): void {
  const requested = request.headers['access-control-request-headers'];
  if (requested !== undefined && HEADER_NAMES.test(requested))
    response.setHeader('Access-Control-Allow-Headers', requested);
  response.setHeader('Access-Control-Allow-Methods', METHODS);
  response.setHeader('Access-Control-Max-Age', String(MAX_AGE_SECONDS));
  response.status(204).end();
}
