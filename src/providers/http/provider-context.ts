import type { Clock } from '../../common/time/clock.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import type { VendorFile } from '../async-json/vendor-file.js';
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
  /** How the provider is asked, where a file describes it. */
  readonly vendor?: VendorFile | undefined;
  /** Fetches what callers named, where the provider takes it inline. */
  readonly download?: BoundedDownload | undefined;
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
/** A signed token, which some vendors get in place of the key. */
const TOKEN = /eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g;

/** A text of the provider without its key, in the forms in which it is sent: some quote what they were sent. */
export function withoutKey<Text extends string | undefined>(
  { apiKey, vendor }: Pick<ProviderContext, 'apiKey' | 'vendor'>,
  text: Text,
): Text | string {
  if (apiKey === undefined || text === undefined) return text;
  const isPair = vendor?.auth.in === 'jwt';
  const colon = isPair ? apiKey.indexOf(':') : -1;
  const parts = [apiKey, encodeURIComponent(apiKey), ...(isPair ? [apiKey.slice(colon + 1)] : [])];
  const secrets = parts.filter((part) => part.length >= MIN_KEY_CHARS);
  const clean = secrets.reduce<string>(
    (said, secret) => said.replaceAll(secret, '[redacted]').replaceAll(coded(secret), '[redacted]'),
    text,
  );
  return isPair ? clean.replaceAll(TOKEN, '[redacted]') : clean;
}

/** The text in base64, or in that for URLs, as the whole or as the beginning of what was coded. */
function coded(secret: string): RegExp {
  const bytes = Buffer.from(secret);
  // What follows may share the last character with it.
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
  const form = whole.replaceAll('+', '[+-]').replaceAll('/', '[/_]');
  return new RegExp(`${form}[\\w+/-]*={0,2}`, 'g');
}
