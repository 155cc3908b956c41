import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { FamilyOf } from '../../../common/errors/api-family.js';
import { toPublicId } from '../../../common/ids/public-id.js';
import { uuidV7 } from '../../../common/ids/uuid-v7.js';
import { TRACE_PARENT_HEADER, traceParentOf } from '../../../common/trace-parent.js';
import type { Clock } from '../../../common/time/clock.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** UUID of this request. If it becomes a paid call, it is the id of its execution. */
    executionId: string;
    /** The caller's own name for the request, if it gave one. */
    clientRequestId?: string;
    /** The caller's `traceparent`, if it is valid. */
    traceParent?: string;
  }
}

/** Header that names a call to support (API: Shared audio rules). */
export const EXECUTION_ID_HEADER = 'x-gateway-execution-id';

/** The same id, as OpenAI's clients read it. */
const REQUEST_ID_HEADER = 'x-request-id';
/** The same id, as clients of Messages read it. */
export const MESSAGES_REQUEST_ID_HEADER = 'request-id';

/** The headers with the id of a request. */
export const ID_HEADERS = [EXECUTION_ID_HEADER, REQUEST_ID_HEADER, MESSAGES_REQUEST_ID_HEADER];

/** The caller's own name for a request. With it the caller finds a call whose response was lost (decision G-97). */
const CLIENT_REQUEST_ID_HEADER = 'x-client-request-id';
const CLIENT_REQUEST_ID_FORM = /^[\x20-\x7e]{1,128}$/;

/**
 * Middleware. Gives each request its execution id and sends it in every response (decision G-47), together with the
 * caller's own id and `traceparent` if they are valid. Clients of Messages look for it in a header of their own.
 */
export function executionId(clock: Clock, familyOf?: FamilyOf) {
  return (request: Request, response: Response, next: NextFunction): void => {
    request.executionId = uuidV7(clock.nowMs());
    const publicId = toPublicId('exec', request.executionId);
    response.setHeader(EXECUTION_ID_HEADER, publicId);
    response.setHeader(REQUEST_ID_HEADER, publicId);
    if (familyOf?.(request) === 'messages') {
      response.setHeader(MESSAGES_REQUEST_ID_HEADER, publicId);
    }
    const clientRequestId = request.headers[CLIENT_REQUEST_ID_HEADER];
    if (typeof clientRequestId === 'string' && CLIENT_REQUEST_ID_FORM.test(clientRequestId)) {
      request.clientRequestId = clientRequestId;
      response.setHeader(CLIENT_REQUEST_ID_HEADER, clientRequestId);
    }
    const traceParent = traceParentOf(request.headers[TRACE_PARENT_HEADER]);
    if (traceParent !== undefined) request.traceParent = traceParent;
    next();
  };
}

/** The id of the request that is answered; null for one that failed before it had an id. */
export function requestIdOf(response: Pick<ServerResponse, 'getHeader'>): string | null {
  const id = response.getHeader(REQUEST_ID_HEADER);
  return typeof id === 'string' ? id : null;
}

/** The response is about this execution (public id), which an earlier request made. */
export function setExecutionId(response: ServerResponse, executionId: string): void {
  for (const name of ID_HEADERS)
    if (response.hasHeader(name)) response.setHeader(name, executionId);
}
