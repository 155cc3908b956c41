import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ReplayedAnswer } from './answer-copy.js';
import { abortResponse } from './backpressure.js';
import { requestIdOf } from './execution-id.js';
import { removeAnswerHeaders } from './gateway-headers.js';
import { drainRejectedBody } from '../request-body/drain-rejected-body.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { type FamilyOf, inApiFamily } from '../../../common/errors/api-family.js';
import { bodyInApiFamily, statusInApiFamily } from '../../../common/errors/error-body.js';
import { toGatewayError } from '../../../common/errors/to-gateway-error.js';

/** What the filter gets from the application. */
export interface ErrorFilterOptions {
  /** Called for every error response; the logger uses it. */
  readonly onError?: (error: GatewayError, request: Request) => void;
  /**
   * Turns errors of other layers, such as a lost database, into public errors; undefined for errors that it does not
   * know.
   */
  readonly translate?: (thrown: unknown) => GatewayError | undefined;
  /** Default: every request is `general`. */
  readonly familyOf?: FamilyOf;
  /** Methods of a path that lacks the requested method; empty for an unknown path. */
  readonly methodsOf?: (path: string) => readonly string[];
  /** The hint for a method that an existing path lacks. */
  readonly methodHint?: (method: string, path: string, methods: readonly string[]) => string;
  /** The hint for an unknown path, for stock clients of other APIs. */
  readonly hintFor?: (path: string) => string | undefined;
}

/** Default `Retry-After` in seconds, for responses after which a retry makes sense. */
const RETRY_AFTER_SECONDS: Readonly<Record<number, number>> = { 429: 5, 503: 5 };

/**
 * The only place that writes error responses: the envelope with its status, `Retry-After`, `x-should-retry` and `WWW-
 * Authenticate` (API: Errors). If the head was sent already, the connection is closed, so that the response never looks
 * complete.
 */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  constructor(private readonly options: ErrorFilterOptions = {}) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  /** Writes the response for any thrown value; also used by middleware that runs outside Nest's filters. */
  answer(thrown: unknown, request: Request, response: Response): void {
    if (thrown instanceof ReplayedAnswer) {
      thrown.send(response);
      return;
    }
    const surface = this.options.familyOf?.(request) ?? 'general';
    const error = inApiFamily(this.translate(thrown, request, response), surface);
    this.options.onError?.(error, request);
    if (response.headersSent) {
      abortResponse(response);
      whenRefused(request, () => undefined);
      return;
    }
    removeAnswerHeaders(response);
    if (error.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    // Where a retry cannot help, no time to wait is named.
    const byDefault = error.shouldRetry === false ? undefined : RETRY_AFTER_SECONDS[error.status];
    const retryAfterSeconds = error.retryAfterSeconds ?? byDefault;
    if (retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))));
    }
    if (error.shouldRetry === false || error.status === 409) {
      response.setHeader('x-should-retry', 'false');
    }
    drainRejectedBody(request);
    whenRefused(request, () => {
      if (response.destroyed) return;
      response
        .status(statusInApiFamily(error, surface))
        .json(bodyInApiFamily(error, surface, requestIdOf(response)));
    });
  }

  /** A path that exists without the method is 405 with `Allow`, not 404 (decision G-12). */
  private translate(thrown: unknown, request: Request, response: Response): GatewayError {
    const { translate, methodsOf, methodHint, hintFor } = this.options;
    if (!(thrown instanceof NotFoundException))
      return translate?.(thrown) ?? toGatewayError(thrown);
    const methods = methodsOf?.(request.path) ?? [];
    if (methods.length > 0) {
      response.setHeader('Allow', methods.join(', '));
      const message =
        methodHint?.(request.method, request.path, methods) ?? 'The method is not allowed here.';
      return new GatewayError('method_not_allowed', message);
    }
    const advice = hintFor?.(request.path);
    return advice === undefined ? toGatewayError(thrown) : new GatewayError('not_found', advice);
  }
}

/** Writes at once, or once the idempotency key of the request is free again. */
function whenRefused({ answerCopy }: Request, write: () => void): void {
  if (answerCopy) void answerCopy.refused().then(write);
  else write();
}
