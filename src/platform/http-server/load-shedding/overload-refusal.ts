import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { FamilyOf } from '../../../common/errors/api-family.js';
import { bodyInApiFamily } from '../../../common/errors/error-body.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { drainRejectedBody } from '../request-body/drain-rejected-body.js';
import { requestIdOf } from '../responses/execution-id.js';

/** A middleware that only sets headers. */
export type HeaderMiddleware = (request: Request, response: Response, next: NextFunction) => void;

const RETRY_AFTER_SECONDS = 1;
const STATUS = 503;
const ERROR = new GatewayError('service_unavailable', 'The gateway has too much to do right now.');

/**
 * The response to a request that load shedding refuses: 503 `service_unavailable` with `Retry-After` and the headers of
 * every response, from the same middleware, for a tenth of the CPU of a call. Nothing was held, so the client may
 * repeat the request.
 */
export class OverloadRefusal {
  constructor(
    private readonly middleware: readonly HeaderMiddleware[],
    private readonly onRefused: () => void,
    private readonly familyOf?: FamilyOf,
  ) {}

  /** Sends the response, and reads and drops the body of the request. */
  respond(request: IncomingMessage, response: ServerResponse): void {
    this.onRefused();
    for (const set of this.middleware) {
      try {
        // The server creates every request and response with the prototypes of Express.
        set(request as Request, response as Response, () => undefined);
      } catch {
        // A target that is no path gets only the headers of every response.
      }
    }
    const family = this.familyOf?.(request) ?? 'general';
    const body = JSON.stringify(bodyInApiFamily(ERROR, family, requestIdOf(response)));
    response.setHeader('Retry-After', String(RETRY_AFTER_SECONDS));
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(body));
    drainRejectedBody(request);
    response.statusCode = STATUS;
    response.end(body);
  }
}
