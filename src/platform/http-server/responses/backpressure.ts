import type { ServerResponse, IncomingMessage } from 'node:http';

/** A response that can be aborted. */
export interface AbortableResponse {
  readonly req?: Pick<IncomingMessage, 'httpVersion' | 'socket'> & {
    readonly answerCopy?: { drop(): void } | undefined;
  };
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

/** A client that reads nothing for this long counts as disconnected, whatever the response is. */
export const STALL_MS = 30_000;

/**
 * Whether the socket accepted everything at once although the write reported a full buffer. Then no `drain` may follow.
 */
export function isFlushed({ socket }: ServerResponse): boolean {
  return socket !== null && (socket.writableLength === 0 || !socket.writableNeedDrain);
}

/**
 * Calls back once when the client disconnects before the end of the response, or at once if that has happened already.
 */
export function onClientDisconnect(response: ServerResponse, listener: () => void): void {
  const tell = (): void => {
    if (!response.writableFinished) listener();
  };
  if (response.destroyed) tell();
  else response.on('close', tell);
}

/**
 * Resolves when a full response accepts bytes again, or when its client has disconnected. A client that stalls is
 * disconnected.
 */
export function waitForDrain(response: ServerResponse, stallMs = STALL_MS): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const stall = setTimeout(() => {
      abortResponse(response);
    }, stallMs);
    // Thousands of clients wait many times a second, so the listeners are removed, not left to the garbage collector.
    const goOn = (): void => {
      clearTimeout(stall);
      response.off('drain', goOn);
      response.off('close', goOn);
      resolve();
    };
    response.once('drain', goOn);
    response.once('close', goOn);
  });
}
