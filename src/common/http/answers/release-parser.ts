import type { Socket } from 'node:net';

/** What a client may send after its last request before its connection is cut. */
const MAX_LATE_BYTES = 65_536;

/** The socket of a server, with Node's parser of its requests. The parser is not part of Node's public interface. */
interface ParsedSocket extends Socket {
  parser?: {
    /** Takes the connection out of those whose requests have a timeout. */
    readonly remove?: () => void;
    /** Frees its memory. Later calls do nothing. */
    readonly close?: () => void;
  } | null;
}

/**
 * Frees the parser of a connection, 10 kB, while its last answer is being sent. The answer must have `Connection: close`, and
 * the request must be complete. What the client sends from now on is dropped, and too much of it cuts the connection.
 */
export function releaseParser(socket: ParsedSocket): void {
  const { parser } = socket;
  if (!parser?.remove || !parser.close) return;
  let lateBytes = 0;
  // Node gives the bytes to the listeners instead of the parser as soon as there is one.
  socket.on('data', (bytes: Buffer) => {
    lateBytes += bytes.length;
    if (lateBytes > MAX_LATE_BYTES) socket.destroy();
  });
  parser.remove();
  parser.close();
  socket.parser = null;
}
