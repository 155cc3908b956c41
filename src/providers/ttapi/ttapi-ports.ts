import type { EndpointChange } from '../http/endpoint-change.js';
import { keyHeader, type ProviderAccess } from '../http/provider-access.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { changedEndpoints } from './ttapi-endpoint-changes.js';
import { TTAPI_ENDPOINTS } from './ttapi-endpoints.js';
import { ownTtapiErrors } from './ttapi-error.js';
import { TtapiSong } from './ttapi-song.adapter.js';

/**
 * Everything that a provider with the TTAPI wire protocol can do. Throws ConfigError for a change of an endpoint that
 * the table does not have.
 */
export function ttapiPorts(access: ProviderAccess): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'tt-api-key'),
    ownErrors: ownTtapiErrors,
  });
  const endpoints = changedEndpoints(TTAPI_ENDPOINTS, access.endpointChanges ?? []);
  return { song: new TtapiSong(http, endpoints, access.id) };
}

/** Whether the table, with the operator's changes, has an endpoint of that name. Throws ConfigError as {@link ttapiPorts}. */
export function hasTtapiEndpoint(name: string, changes: readonly EndpointChange[]): boolean {
  return Object.hasOwn(changedEndpoints(TTAPI_ENDPOINTS, changes), name);
}
