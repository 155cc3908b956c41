import { apiFamilyOf } from '../catalog/operations.js';
import { inApiFamily, typeInApiFamily } from '../common/errors/api-family.js';
import type { GatewayError } from '../common/errors/gateway-error.js';
import type { QuoteErrorView } from './quote.view.js';

/** The error as the endpoint of the path answers it. */
export function viewError(thrown: GatewayError, path: string): QuoteErrorView {
  const family = apiFamilyOf(path);
  const error = inApiFamily(thrown, family);
  return error.toEnvelope(typeInApiFamily(error, family)).error;
}
