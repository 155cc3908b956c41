import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { PipeliningGuard } from './pipelining-guard.js';
import type { FamilyOf } from '../../../common/errors/api-family.js';
import { ID_HEADERS, requestIdOf } from '../responses/execution-id.js';
import { rejectionOf } from './request-validation.js';

/** Statuses for what Node's parser refuses; everything else is 400. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
const MESSAGE = 'The request is not valid HTTP, too large or too slow.';

/**
 * Responds with the error envelope to bytes that are no HTTP request, and closes the connection (decision G-12). If the
 * head of the request was read, the envelope is that of its family, and its id is told. Responses to earlier requests of the connection are sent completely first.
 */
export function handleClientErrors(
  server: Server,
  guard: Pick<PipeliningGuard, 'endsAfterResponses' | 'responseOn'>,
  familyOf?: FamilyOf,
): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code !== 'ECONNRESET' && guard.endsAfterResponses(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
    const response = guard.responseOn(socket);
    const family = response && familyOf?.(response.req);
    const requestId = response ? requestIdOf(response) : null;
    const { reason, headers, body } = rejectionOf(status, MESSAGE, family, requestId);
    const ids = ID_HEADERS.filter((name) => response?.hasHeader(name));
    const lines = [
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...ids.map((name) => `${name}: ${requestId}`),
    ];
    socket.end([`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n'));
  });
}
