import type { IncomingMessage } from 'node:http';

/** An answer that can be cut. */
export interface AbortableResponse {
  readonly req?: Pick<IncomingMessage, 'httpVersion' | 'socket'>;
  destroy(): unknown;
}

/**
 * Closes the connection of an answer that has begun, so that the answer never looks complete. HTTP/1.0, which nginx speaks
 * to upstreams unless told otherwise, ends a body with the connection: there the connection is reset.
 */
export function abortResponse(response: AbortableResponse): void {
  if (response.req?.httpVersion === '1.0') response.req.socket.resetAndDestroy();
  response.destroy();
}
