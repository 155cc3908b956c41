import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { TTAPI_ENDPOINTS } from './ttapi-endpoints.js';
import { ownTtapiErrors } from './ttapi-error.js';
import { TtapiSong } from './ttapi-song.adapter.js';

/** Everything that a provider with the TTAPI wire protocol can do. */
export function ttapiPorts(access: ProviderContext): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'tt-api-key'),
    ownErrors: ownTtapiErrors,
  });
  return { song: new TtapiSong(http, TTAPI_ENDPOINTS, access.id) };
}

/** Whether the table has an endpoint of that name. */
export function hasTtapiEndpoint(name: string): boolean {
  return Object.hasOwn(TTAPI_ENDPOINTS, name);
}
