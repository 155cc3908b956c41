import {
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { ApiFamily, FamilyOf } from '../../../common/errors/api-family.js';
import { bodyInApiFamily } from '../../../common/errors/error-body.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { parseUrl } from '../../../common/parse-url.js';

/** Header lines of a request. Node would silently drop those beyond its own limit, perhaps `Authorization`. */
const MAX_HEADERS = 100;

/** The response to an invalid HTTP request: the envelope of its family, on a connection that closes after it. */
export function rejectionOf(
  status: number,
  message: string,
  family: ApiFamily = 'general',
  requestId: string | null = null,
): { reason: string; headers: Record<string, string | number>; body: string } {
  const body = JSON.stringify(
    bodyInApiFamily(new GatewayError('invalid_request', message), family, requestId),
  );
  return {
    reason: STATUS_CODES[status] ?? '',
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    },
    body,
  };
}

function rejectRequest(
  response: ServerResponse,
  status: number,
  message: string,
  family?: ApiFamily,
): void {
  const { headers, body } = rejectionOf(status, message, family);
  response.writeHead(status, headers).end(body);
}

/**
 * Serves only requests with an unambiguous head: exactly one `Host` (HTTP/1.1), at most one `Authorization`, at most
 * 100 header lines, a target that is a path or a URL (decision G-12).
 */
export function withValidatedRequest(serve: RequestListener, familyOf?: FamilyOf): RequestListener {
  return (request, response) => {
    const reject = (status: number, message: string): void => {
      rejectRequest(response, status, message, familyOf?.(request));
    };
    const hosts = linesOf('host', request);
    if (request.rawHeaders.length > 2 * MAX_HEADERS) {
      reject(431, `A request may have at most ${MAX_HEADERS} headers.`);
    } else if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) {
      reject(400, 'A request must have exactly one Host header.');
    } else if (linesOf('authorization', request) > 1) {
      reject(400, 'A request may have one Authorization header.');
    } else if (!hasPath(request)) {
      reject(400, 'The target of the request is neither a path nor a URL.');
    } else if (!isUnderstood(request)) {
      reject(417, 'Only Expect: 100-continue is understood.');
    } else serve(request, response);
  };
}

/**
 * Replaces the target by its path, because the router parses other targets with a parser that throws. Rejects a path
 * that cannot be decoded before the key is checked (decision G-01).
 */
function hasPath(request: IncomingMessage): boolean {
  const { url = '' } = request;
  if (url === '*') return true;
  if (url.startsWith('/')) {
    if (url.includes('%')) request.url = decodable(url);
    return true;
  }
  const parsed = parseUrl(url);
  if (!parsed) return false;
  const { pathname, search } = parsed;
  request.url = decodable(pathname + search);
  return pathname.startsWith('/');
}

/**
 * In a path that cannot be decoded, such as `/v1/tasks/%ff`, each % is encoded as %25. The id is then malformed, and
 * the response is the 404 of every malformed id (decision G-52).
 */
function decodable(target: string): string {
  const [path = ''] = target.split('?', 1);
  try {
    decodeURIComponent(path);
    return target;
  } catch {
    return path.replaceAll('%', '%25') + target.slice(path.length);
  }
}

/** HTTP/1.0 has no `Expect` header. */
function isUnderstood({ headers: { expect }, httpVersion }: IncomingMessage): boolean {
  return expect === undefined || httpVersion === '1.0' || expect.toLowerCase() === '100-continue';
}

/**
 * How often a header was sent. If it was sent twice, a proxy before the gateway may have used a different one than
 * Node.
 */
function linesOf(wanted: string, { rawHeaders }: IncomingMessage): number {
  let lines = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === wanted.length && name.toLowerCase() === wanted) lines += 1;
  }
  return lines;
}
