import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProbedPorts } from '../ports/provider-ports.js';
import { TTAPI_ENDPOINTS } from './ttapi-endpoints.js';
import { TtapiProbe } from './ttapi-probe.js';
import { TtapiSong } from './ttapi-song.adapter.js';
import { isJsonObject } from '../../common/json-object.js';
import type { OwnErrors } from '../http/error-classification.js';
import { isFailureWord, jobFailure } from '../http/job-state.js';

/** The queue of the provider is full; it accepted nothing. */
const QUEUE_EXHAUSTED = 499;
/** The provider waited too long for the result; its work may go on. */
const SYNC_TIMEOUT = 504;

/**
 * Reads `{status: "FAILED", message}`. In this format the provider itself has rejected the request; a 5xx without it is
 * a failure. The message is the provider's own text, for operators.
 */
export const ownTtapiErrors: OwnErrors = (status, body) => {
  if (status === QUEUE_EXHAUSTED) return { code: 'queue_exhausted', kind: 'rate_limited' };
  if (!isJsonObject(body) || !isFailureWord(body.status) || status === SYNC_TIMEOUT)
    return undefined;
  const { code, message } = jobFailure(body, null);
  // With a code, the error is treated as the provider's own rejection. This code says nothing and is never shown to
  // callers.
  return { code: code ?? 'FAILED', message: message ?? undefined };
};

/** Everything that a provider with the TTAPI wire protocol can do. */
export function ttapiPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'tt-api-key'),
    ownErrors: ownTtapiErrors,
  });
  return { probe: new TtapiProbe(http), song: new TtapiSong(http, TTAPI_ENDPOINTS, access.id) };
}

/** Whether the table has an endpoint of that name. */
export function hasTtapiEndpoint(name: string): boolean {
  return Object.hasOwn(TTAPI_ENDPOINTS, name);
}
