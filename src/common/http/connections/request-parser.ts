import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Node's parser of a connection. It is not part of Node's public interface. */
interface RequestParser {
  onIncoming?: ((request: IncomingMessage, keepsAlive: boolean) => unknown) | null;
  /** Takes the connection out of those whose requests have a timeout. */
  remove?: () => void;
  /** Frees its memory. Later calls do nothing. */
  close?: () => void;
}
/** The socket of a server, with its parser. */
interface ParsedSocket extends Socket {
  parser?: RequestParser | null;
}
/** The parser takes it for the end of HTTP on this connection. */
const PARSE_NO_MORE = 2;
/** The parser goes on with the body, which nobody reads. */
const PARSE_ON = 0;
/** What a client may send after its last request before its connection is cut. */
const MAX_LATE_BYTES = 65_536;

/**
 * Passes on the requests that are not refused. On a connection that was cut Node would parse the rest of the chunk that it
 * has read: 64 kB can hold 3,600 requests and cost 5 MB per connection.
 */
export function interceptRequests(
  socket: Socket,
  refuses: (request: IncomingMessage) => boolean,
): void {
  const { parser } = socket as ParsedSocket;
  const take = parser?.onIncoming;
  if (!parser || !take) return;
  parser.onIncoming = (request, keepsAlive) => {
    if (socket.destroyed) return PARSE_NO_MORE;
    return keepsAlive && refuses(request) ? PARSE_ON : take(request, keepsAlive);
  };
}

/**
 * Frees the parser of a connection, 10 kB, while its last answer is being sent. The answer must have `Connection: close`, and
 * the request must be complete. What the client sends from now on is dropped, and too much of it cuts the connection.
 */
export function releaseParser(socket: Socket): void {
  const { parser } = socket as ParsedSocket;
  if (!parser?.remove || !parser.close) return;
  let lateBytes = 0;
  // Node gives the bytes to the listeners instead of the parser as soon as there is one.
  socket.on('data', (bytes: Buffer) => {
    lateBytes += bytes.length;
    if (lateBytes > MAX_LATE_BYTES) socket.destroy();
  });
  parser.remove();
  parser.close();
  (socket as ParsedSocket).parser = null;
}
