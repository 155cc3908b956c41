import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalOf } from './request-head.js';

/** Statuses for what Node's parser refuses before there is a request; everything else is 400. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
const MESSAGE = 'The request is not valid HTTP, too large or too slow.';

/**
 * Answers bytes that are no HTTP request in the error envelope too, and closes the connection (decision G-12). They come
 * into no other answer: the one in work goes out first, and the connection closes behind it.
 */
export function answerClientErrors(server: Server): void {
  const closing = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    if (closing.has(socket)) return;
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

/** The answer whose turn it is on the connection; none where it waits for the very bytes that are no HTTP. */
function answerInWork(socket: Duplex): ServerResponse | undefined {
  // Node tells its own default handler by the same field whether an answer has begun.
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  return answer && (answer.headersSent || answer.req.complete) ? answer : undefined;
}
