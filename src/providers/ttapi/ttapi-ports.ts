import type { ProviderAccess } from '../http/provider-access.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { changedCalls } from './ttapi-call-changes.js';
import { TTAPI_CALLS } from './ttapi-calls.js';
import { classifyTtapiError } from './ttapi-error.js';
import { TtapiSong } from './ttapi-song.adapter.js';

/** Everything a provider that speaks the TTAPI wire protocol can do. Throws ConfigError for a change of a call that is none. */
export function ttapiPorts(access: ProviderAccess): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: { 'tt-api-key': access.apiKey },
    classify: classifyTtapiError,
  });
  const calls = changedCalls(TTAPI_CALLS, access.callChanges ?? []);
  return { song: new TtapiSong(http, calls, access.id) };
}
