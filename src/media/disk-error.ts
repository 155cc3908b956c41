import { GatewayError } from '../common/errors/gateway-error.js';

/** Codes of a disk, quota or limit that takes no more bytes. */
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const RETRY_AFTER_SECONDS = 30;

/**
 * What the caller is told about a recording that could not be written: 503 `service_unavailable` where the disk takes no more
 * bytes, because that passes. Every other error is returned unchanged.
 */
export function diskError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!FULL.includes(code)) return error;
  return new GatewayError('service_unavailable', 'The recording cannot be taken now.', {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
