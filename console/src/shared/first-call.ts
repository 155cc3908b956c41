import { PATH_PREFIX } from './api.js';

/** Where the API of this gateway is. */
export const GATEWAY_URL = `${location.origin}${PATH_PREFIX}`;

/** A call that anybody with a key can make, as the code of the playground names the key. */
export const FIRST_CALL = `curl -X POST ${GATEWAY_URL}/v1/audio/speech -H "Authorization: Bearer $SHIM_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"model":"aud-v4","voice":"Adam","input":"Hello."}' -o hello.mp3`;
