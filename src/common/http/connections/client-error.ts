import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isFull } from './request-parser.js';
import { refusalOf } from './request-head.js';

/** Statuses for what Node's parser refuses; everything else is 400. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
const MESSAGE = 'The request is not valid HTTP, too large or too slow.';

/**
 * Answers bytes that are no HTTP request with the error envelope, and closes the connection (decision G-12). An answer
 * that is under way is sent first, whole, and then the connection closes.
 */
export function answerClientErrors(server: Server): void {
  const closing = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    if (closing.has(socket) || isFull(socket)) return;
    const answer = answerInWork(socket);
    if (answer) {
      closing.add(socket);
      answer.once('close', () => socket.end(() => socket.destroy()));
      return;
    }
    const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
    const { reason, headers, body } = refusalOf(status, MESSAGE);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n'));
  });
}

/** The answer that is under way on the connection. Undefined when the connection was waiting for a request. */
function answerInWork(socket: Duplex): ServerResponse | undefined {
  // Node's default handler uses the same field to tell whether an answer has begun.
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  return answer && (answer.headersSent || answer.req.complete) ? answer : undefined;
}
