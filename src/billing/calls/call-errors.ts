import type { AdmittedCall } from '../../admission/admitted-call.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { toGatewayError } from '../../common/errors/to-gateway-error.js';
import { findBodyField } from '../../common/validation/parsed-body.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import { faultOf, providerErrorBehind } from '../../providers/http/provider-fault.js';

/** The client disconnected. Recorded as `client_left`; no client receives the error. */
export class ClientLeft extends GatewayError {
  constructor() {
    super('invalid_request', 'The client left before the answer began.');
  }
}

/** The process ends. Recorded as `shutdown`. */
export class ShuttingDown extends GatewayError {
  constructor() {
    super('service_unavailable', 'The gateway is shutting down.', { retryAfterSeconds: 1 });
  }
}

/** 502: the call took longer than any call may. SDKs are told not to retry, because the work may have been done (decision G-51). */
export class DeadlinePassed extends GatewayError {
  constructor() {
    super('provider_timeout', 'The call took too long.', { shouldRetry: false });
  }
}

/**
 * The error for the caller. A provider that breaks off within a body throws outside the router, so its error is
 * translated here. `param` is the field that the provider rejected, if the caller sent that field (decision G-96).
 */
export function publicErrorOf(thrown: unknown, call: AdmittedCall): GatewayError {
  const error =
    thrown instanceof ProviderError
      ? thrown.toGatewayError(call.row.operation)
      : toGatewayError(thrown);
  const field = providerErrorBehind(error)?.upstreamParam;
  if (error.code !== 'provider_rejected_request' || field === undefined) return error;
  const param = findBodyField(call.body, field);
  return param === undefined ? error : error.withParam(param);
}

/** The code in the record of a call that failed with this error. */
export function recordedCodeOf(error: GatewayError): string {
  if (error instanceof ShuttingDown) return 'shutdown';
  return error instanceof ClientLeft ? 'client_left' : error.code;
}

/** The provider that caused the failure, for the record. */
export function failedProviderOf(thrown: unknown) {
  const error = providerErrorBehind(thrown);
  return {
    provider: error?.provider ?? null,
    providerRequestId: error?.providerRequestId ?? null,
    providerFault: error === undefined ? null : faultOf(error),
  };
}
