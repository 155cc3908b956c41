import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { PipeliningGuard } from './pipelining-guard.js';
import { rejectionOf } from './request-validation.js';

/** Statuses for what Node's parser refuses; everything else is 400. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
const MESSAGE = 'The request is not valid HTTP, too large or too slow.';

/**
 * Responds with the error envelope to bytes that are no HTTP request, and closes the connection (decision G-12).
 * Responses to earlier requests of the connection are sent completely first.
 */
export function handleClientErrors(
  server: Server,
  guard: Pick<PipeliningGuard, 'endsAfterResponses'>,
): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code !== 'ECONNRESET' && guard.endsAfterResponses(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
    const { reason, headers, body } = rejectionOf(status, MESSAGE);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n'));
  });
}
