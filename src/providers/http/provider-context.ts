import type { Clock } from '../../common/time/clock.js';
import type { HttpTransport } from './http-transport.js';

/** What an adapter needs to reach one provider. */
export interface ProviderContext {
  /** The provider's id in the configuration. */
  readonly id: string;
  readonly baseUrl: string;
  /** Unset: the provider takes no key, and no header of a key is sent. */
  readonly apiKey?: string | undefined;
  readonly transport: HttpTransport;
  readonly clock: Clock;
}

/** The header that carries the provider's key, after `scheme`; none where it takes no key. */
export function keyHeader(
  { apiKey }: ProviderContext,
  name: string,
  scheme = '',
): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { [name]: scheme + apiKey };
}

/** A shorter key than this is no secret, and part of many words. */
const MIN_KEY_CHARS = 8;

/** A text of the provider without its key: some quote what they were sent. */
export function withoutKey<Text extends string | undefined>(
  { apiKey }: Pick<ProviderContext, 'apiKey'>,
  text: Text,
): Text | string {
  const isSecret = apiKey !== undefined && apiKey.length >= MIN_KEY_CHARS;
  return isSecret && text !== undefined ? text.replaceAll(apiKey, '[redacted]') : text;
}
