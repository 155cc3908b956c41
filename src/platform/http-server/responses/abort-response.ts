import type { IncomingMessage } from 'node:http';

/** A response that can be aborted. */
export interface AbortableResponse {
  readonly req?: Pick<IncomingMessage, 'httpVersion' | 'socket'>;
  destroy(): unknown;
}

/**
 * Closes the connection of a response that has begun, so that the response never looks complete. In HTTP/1.0, which
 * nginx speaks to upstreams by default, closing is the normal end of a body: there the connection is reset.
 */
export function abortResponse(response: AbortableResponse): void {
  if (response.req?.httpVersion === '1.0') response.req.socket.resetAndDestroy();
  response.destroy();
}
