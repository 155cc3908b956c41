import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalOf } from './request-head.js';

/** Statuses for what Node's parser refuses before there is a request; everything else is 400. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
const MESSAGE = 'The request is not valid HTTP, too large or too slow.';

/** Answers bytes that are no HTTP request in the error envelope too, and closes the connection (decision G-12). */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
    const { reason, headers, body } = refusalOf(status, MESSAGE);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n'));
  });
}
