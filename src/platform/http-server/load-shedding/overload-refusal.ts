import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { drainRejectedBody } from '../request-body/drain-rejected-body.js';

/** A middleware that only sets headers. */
export type HeaderMiddleware = (request: Request, response: Response, next: NextFunction) => void;

const RETRY_AFTER_SECONDS = 1;
const STATUS = 503;
const BODY = JSON.stringify(
  new GatewayError('service_unavailable', 'The gateway has too much to do right now.').toEnvelope(),
);
const OWN_HEADERS: readonly (readonly [string, string])[] = [
  ['Retry-After', String(RETRY_AFTER_SECONDS)],
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Content-Length', String(BODY.length)],
];

/**
 * The response to a request that load shedding refuses: 503 `service_unavailable` with `Retry-After` and the headers of
 * every response, from the same middleware, for a tenth of the CPU of a call. Nothing was held, so the client may
 * repeat the request.
 */
export class OverloadRefusal {
  constructor(
    private readonly middleware: readonly HeaderMiddleware[],
    private readonly onRefused: () => void,
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
    for (const [name, value] of OWN_HEADERS) response.setHeader(name, value);
    drainRejectedBody(request);
    response.statusCode = STATUS;
    response.end(BODY);
  }
}
