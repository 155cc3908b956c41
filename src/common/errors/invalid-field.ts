import { GatewayError } from './gateway-error.js';

/** The 400 that names a field by its path; `says` ends the sentence, without a full stop. */
export function invalidField(param: string, says: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', `${param} ${says}.`, { param, cause });
}
