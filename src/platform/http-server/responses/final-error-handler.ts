import { Logger } from '@nestjs/common';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FamilyOf } from '../../../common/errors/api-family.js';
import { bodyInApiFamily } from '../../../common/errors/error-body.js';
import { toGatewayError } from '../../../common/errors/to-gateway-error.js';
import { requestIdOf } from './execution-id.js';

/** An application of Express: calls back with an error that none of its handlers has handled. */
export type ExpressApp = (
  request: IncomingMessage,
  response: ServerResponse,
  unanswered: (error: unknown) => void,
) => void;

/**
 * Serves requests with the application. When its error filter fails too, the response is 500 in the envelope of the
 * request's family, where Express would send a page, and the connection closes. A response that has begun is aborted. The error is logged
 * here, because no other code sees it.
 */
export function withFinalErrorHandler(app: ExpressApp, familyOf?: FamilyOf): RequestListener {
  const logger = new Logger('HTTP');
  return (request, response) => {
    app(request, response, (error) => {
      logger.error(`a request failed, and so did its error response: ${described(error)}`);
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const fault = toGatewayError(error);
      const body = JSON.stringify(
        bodyInApiFamily(fault, familyOf?.(request) ?? 'general', requestIdOf(response)),
      );
      response.writeHead(fault.status, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
        Connection: 'close',
      });
      response.end(body);
    });
  };
}

function described(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
