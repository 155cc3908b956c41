import { GatewayError } from '../common/errors/gateway-error.js';

/** Error codes of a full disk, a disk quota or a file size limit. */
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const RETRY_AFTER_SECONDS = 30;

/**
 * The caller's error for a recording that could not be written: 503 `service_unavailable` if the disk is full, because
 * that passes. Every other error is returned unchanged.
 */
export function diskError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!FULL.includes(code)) return error;
  return new GatewayError('service_unavailable', 'The recording cannot be taken now.', {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
