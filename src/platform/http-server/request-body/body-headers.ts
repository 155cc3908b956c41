import type { IncomingMessage, ServerResponse, IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../../common/errors/gateway-error.js';

const expecting = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that the client waits for permission to send its body (`Expect: 100-continue`). */
export function noteExpectContinue(request: IncomingMessage, response: ServerResponse): void {
  expecting.set(request, response);
}

/** Permits the client to send its body. A client that is rejected earlier never sends it. */
export function sendContinue(request: IncomingMessage): void {
  const response = expecting.get(request);
  if (response === undefined) return;
  expecting.delete(request);
  if (!response.headersSent) response.writeContinue();
}

/** Throws `invalid_request` for a compressed body, which could expand beyond every limit. */
export function checkEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new GatewayError('invalid_request', 'Compressed request bodies are not taken.', {
    param: 'Content-Encoding',
  });
}
