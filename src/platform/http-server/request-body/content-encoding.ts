import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../../common/errors/gateway-error.js';

/** Throws `invalid_request` for a compressed body, which could expand beyond every limit. */
export function checkEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new GatewayError('invalid_request', 'Compressed request bodies are not taken.', {
    param: 'Content-Encoding',
  });
}
