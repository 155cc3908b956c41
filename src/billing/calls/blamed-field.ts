import type { GatewayError } from '../../common/errors/gateway-error.js';
import { findBodyField } from '../../common/validation/parsed-body.js';
import { providerErrorBehind } from '../../providers/http/provider-fault.js';

/** Sets the error's `param` to the field that the provider rejected, if the caller sent that field (decision G-96). */
export function blamingField(error: GatewayError, body: unknown): GatewayError {
  const field = providerErrorBehind(error)?.upstreamParam;
  if (error.code !== 'provider_rejected_request' || field === undefined) return error;
  const param = findBodyField(body, field);
  return param === undefined ? error : error.withParam(param);
}
