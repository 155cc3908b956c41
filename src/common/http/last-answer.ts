import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { toGatewayError } from '../errors/to-gateway-error.js';

/** An application of Express: calls back with an error that none of its handlers has answered. */
export type ExpressApp = (
  request: IncomingMessage,
  response: ServerResponse,
  unanswered: (error: unknown) => void,
) => void;

/**
 * Serves requests with the application. When its error filter fails too, the answer is 500 in the error envelope, where
 * Express would answer a page, and the connection closes. An answer that has begun is cut.
 */
export function withLastAnswer(app: ExpressApp): RequestListener {
  return (request, response) => {
    app(request, response, (error) => {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const answer = toGatewayError(error);
      const body = JSON.stringify(answer.toEnvelope());
      response.writeHead(answer.status, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
        Connection: 'close',
      });
      response.end(body);
    });
  };
}
