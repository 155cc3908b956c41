import type { ErrorCode } from '../common/errors/error-table.js';
import { GatewayError } from '../common/errors/gateway-error.js';

/** The refusal of a model that does not exist, is disabled, or is hidden from the key: it names where the models are listed. */
export function unknownModel(code: ErrorCode): GatewayError {
  return new GatewayError(code, 'No such model; GET /v1/models lists the models of this key.', {
    param: 'model',
  });
}
