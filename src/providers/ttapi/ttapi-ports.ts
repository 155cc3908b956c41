import type { ProviderAccess } from '../http/provider-access.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { TTAPI_CALLS } from './ttapi-calls.js';
import { classifyTtapiError } from './ttapi-error.js';
import { TtapiSong } from './ttapi-song.adapter.js';

/** Everything a provider that speaks the TTAPI wire protocol can do. */
export function ttapiPorts(access: ProviderAccess): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: { 'tt-api-key': access.apiKey },
    classify: classifyTtapiError,
  });
  return { song: new TtapiSong(http, TTAPI_CALLS, access.id) };
}
