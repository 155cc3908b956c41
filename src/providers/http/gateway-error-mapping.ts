import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ProviderError, ProviderErrorKind } from './provider-error.js';
import type { ErrorCode } from '../../common/errors/error-table.js';

const DEFAULT_RETRY_AFTER_SECONDS = 5;
const MAX_RETRY_AFTER_SECONDS = 60;

/** Public code and message of each kind (decisions G-09, G-13). An account of ours at fault is an outage to the caller. */
const PUBLIC_FACE: Readonly<Record<ProviderErrorKind, readonly [ErrorCode, string]>> = {
  rejected: ['provider_rejected_request', 'The provider refused the request.'],
  too_long: [
    'provider_rejected_request',
    'The provider refused the request: the text is too long.',
  ],
  rate_limited: ['provider_rate_limited', 'The provider limits the rate of requests. Retry later.'],
  timeout: ['provider_timeout', 'The provider did not answer in time.'],
  http_error: ['provider_http_error', 'The provider failed to answer the request.'],
  unavailable: ['provider_unavailable', 'The model is not available right now.'],
  account: ['provider_unavailable', 'The model is not available right now.'],
  misconfigured: ['no_eligible_route', 'No route is available for this model.'],
};

/**
 * A provider's failure as clients see it. The provider's words stay behind; a timeout tells SDKs not to retry, since the work may have been done
 * (decision G-51).
 */
export function toGatewayError(error: ProviderError, operation?: string): GatewayError {
  const [code, message] = PUBLIC_FACE[error.kind];
  if (error.kind === 'too_long' && operation === 'speech') {
    return new GatewayError('input_too_long', 'input is longer than the model accepts', {
      param: 'input',
      cause: error,
    });
  }
  const retryAfter = retryAfterOf(error);
  return new GatewayError(code, message, {
    cause: error,
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
    ...(error.kind === 'timeout' && { shouldRetry: false }),
  });
}

function retryAfterOf({ kind, retryAfterSeconds }: ProviderError): number | undefined {
  if (kind !== 'rate_limited' && kind !== 'unavailable') return undefined;
  const fallback = kind === 'rate_limited' ? DEFAULT_RETRY_AFTER_SECONDS : undefined;
  const seconds = retryAfterSeconds ?? fallback;
  return seconds === undefined
    ? undefined
    : Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS);
}
