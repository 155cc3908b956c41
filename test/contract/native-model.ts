import type { JsonObject } from '../../src/common/json-object.js';
import { overlay } from '../support/overlay-file.js';

/** A streamed response as its caller sees it. */
export interface SeenResponse {
  readonly events: readonly JsonObject[];
  readonly text: string;
  /** The response that the last event has. */
  readonly last: JsonObject & { readonly output: readonly JsonObject[] };
}

/** Reads the text of a streamed response. */
export function seenIn(text: string): SeenResponse {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as JsonObject);
  return { events, text, last: events.at(-1)!.response as SeenResponse['last'] };
}

/** An overlay with the model `native`, which a vendor at this URL makes over Responses. Returns its path. */
export function nativeModelAt(baseUrl: string, keyVariable: string): string {
  const price = {
    unit: 'token',
    input_micro_usd_per_million: 1_250_000,
    cached_input_micro_usd_per_million: 125_000,
    output_micro_usd_per_million: 10_000_000,
  };
  const routes = [{ provider: 'vendor', upstream_model: 'm', upstream_protocol: 'responses' }];
  return overlay({
    providers: [{ id: 'vendor', protocol: 'openai', base_url: baseUrl, api_key_env: keyVariable }],
    models: [
      { id: 'native', operation: 'chat', routes, price, limits: { max_output_tokens: 8_000 } },
    ],
  });
}
