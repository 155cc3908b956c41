import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { discardRest } from './refused-body.js';
import { GatewayError } from '../errors/gateway-error.js';
import { onSurface, surfaceOf, typeOnSurface } from '../errors/surface.js';
import { toGatewayError } from '../errors/to-gateway-error.js';

/** What the filter needs to know of its surroundings. */
export interface ErrorFilterOptions {
  /** Told of every error answer; logging hangs on here. */
  readonly onError?: (error: GatewayError, request: Request) => void;
  /** Names the faults of other layers, such as a lost database; undefined for what it does not know. */
  readonly translate?: (thrown: unknown) => GatewayError | undefined;
  /** Methods that a path without the requested method has; empty for an unknown path. */
  readonly methodsOf?: (path: string) => readonly string[];
  /** What to use in place of an unknown path, for stock clients of other APIs. */
  readonly adviceFor?: (path: string) => string | undefined;
}

/** Default `Retry-After` in seconds of answers that may be repeated. */
const RETRY_AFTER_SECONDS: Readonly<Record<number, number>> = { 429: 5, 503: 5 };

/**
 * The one place that writes error answers: the envelope with its status, `Retry-After`, `x-should-retry` and
 * `WWW-Authenticate` (spec: Errors). An answer whose head is out already is cut, never ended cleanly.
 */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  constructor(private readonly options: ErrorFilterOptions = {}) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  /** Writes the answer for anything thrown; also used by middleware that runs outside Nest's filters. */
  answer(thrown: unknown, request: Request, response: Response): void {
    const surface = surfaceOf(request.path);
    const error = onSurface(this.translate(thrown, request, response), surface);
    this.options.onError?.(error, request);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    const retryAfterSeconds = error.retryAfterSeconds ?? RETRY_AFTER_SECONDS[error.status];
    if (retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))));
    }
    if (error.shouldRetry === false || error.status === 409) {
      response.setHeader('x-should-retry', 'false');
    }
    discardRest(request);
    response.status(error.status).json(error.toEnvelope(typeOnSurface(error, surface)));
  }

  /** A path that exists without the method is 405 with `Allow`, not 404 (decision G-12). */
  private translate(thrown: unknown, request: Request, response: Response): GatewayError {
    const { translate, methodsOf, adviceFor } = this.options;
    if (!(thrown instanceof NotFoundException))
      return translate?.(thrown) ?? toGatewayError(thrown);
    const methods = methodsOf?.(request.path) ?? [];
    if (methods.length > 0) {
      response.setHeader('Allow', methods.join(', '));
      return new GatewayError('method_not_allowed', 'The method is not allowed here.');
    }
    const advice = adviceFor?.(request.path);
    return advice === undefined ? toGatewayError(thrown) : new GatewayError('not_found', advice);
  }
}
