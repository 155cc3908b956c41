import { HttpException } from '@nestjs/common';
import type { ErrorCode } from './error-table.js';
import { GatewayError } from './gateway-error.js';

/** An error of another module that knows its own public form. */
export interface TranslatableError {
  toGatewayError(): GatewayError;
}

const NEST_STATUS_CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'request_too_large',
};

const NEST_STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  404: 'There is no such path. GET /docs and GET /openapi.json describe all endpoints.',
  405: 'The method is not allowed here.',
  413: 'The request is too large.',
};

/**
 * The only place that turns thrown values into public errors. A GatewayError stays as it is, errors of the framework
 * and its parsers keep their status, and everything else becomes `internal_error`, whose cause is only logged (decision
 * G-12).
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (isTranslatable(thrown)) return thrown.toGatewayError();
  const status = thrown instanceof HttpException ? thrown.getStatus() : parserStatusOf(thrown);
  const code = status === undefined ? undefined : NEST_STATUS_CODES[status];
  if (status !== undefined && code !== undefined) {
    return new GatewayError(code, NEST_STATUS_TEXTS[status] ?? 'Refused.', { cause: thrown });
  }
  return new GatewayError('internal_error', 'An unexpected error occurred.', { cause: thrown });
}

function isTranslatable(thrown: unknown): thrown is TranslatableError {
  return (
    thrown instanceof Error &&
    typeof (thrown as Partial<TranslatableError>).toGatewayError === 'function'
  );
}

/**
 * Express and its parsers mark client errors with a numeric `status` and `expose`; for example a path that cannot be
 * decoded.
 */
function parserStatusOf(thrown: unknown): number | undefined {
  if (thrown instanceof URIError) return 400;
  if (!(thrown instanceof Error) || !('status' in thrown) || !('expose' in thrown))
    return undefined;
  return thrown.expose === true && typeof thrown.status === 'number' ? thrown.status : undefined;
}
