import { WireFault, type WireError } from '../http/protocol.js';

/** Refuses a request as the vendor does: 400 with a message that begins with the path of the field. */
export function refuseField(message: string, path?: string): never {
  throw new WireFault({ status: 400, message, ...(path !== undefined && { param: path }) });
}

/** The type of the error for a status, where the fault names none. */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** An error in Anthropic's format. */
export function anthropicErrorBody(
  { status, code, message, param }: WireError,
  requestId: string,
): unknown {
  const usual = status >= 500 ? 'api_error' : 'invalid_request_error';
  const text = param === undefined ? message : `${param}: ${message}`;
  const error = { type: code ?? TYPES[status] ?? usual, message: text };
  return { type: 'error', error, request_id: `req_${requestId}` };
}
