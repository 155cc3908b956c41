import { isIP } from 'node:net';
import type { EgressRules } from './egress-rules.js';
import { isPublicAddress } from './public-address.js';

/** Room for presigned storage URLs with a session token. */
const MAX_URL_CHARACTERS = 4_096;
const MAX_NAME_CHARACTERS = 253;
const FIRST_FREE_PORT = 1_024;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
/** High ports of databases, caches and cluster managers, which never serve public media. */
const REFUSED_PORTS: ReadonlySet<number> = new Set([
  2375, 2376, 2379, 2380, 3306, 5432, 6379, 8500, 9200, 10250, 11211, 27017,
]);
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'localdomain', 'home.arpa'];

const WEB_URL = /^https?:\/\/[^/]/i;
// The parser drops or rewrites these, so that readers of the same text would disagree about the host.
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const AMBIGUOUS = /[\u0000-\u0020\u007f\\]/;
const USER_INFO = /^https?:\/\/[^/?#]*@/i;

/** What a URL may point at besides public hosts. */
export interface UrlPolicy {
  /** Private places the operator opened. */
  readonly rules: EgressRules;
  /** Addresses of this service, refused as targets: the origin always, its host unless a rule opens the port. */
  readonly ownUrls?: readonly URL[];
  /** Files of this service itself that may be read, whatever its host. */
  readonly isOwnFile?: (url: URL) => boolean;
  /** Refuse `http` unless a rule opens the host (webhooks of audio tasks). */
  readonly isHttpsOnly?: boolean;
}

/** The parsed URL, or why it is refused, worded to follow the name of a field (`audio_url must …`). */
export type UrlVerdict = { readonly url: URL } | { readonly refusal: string };

/**
 * Everything that can be decided from the text of a URL, before any name is resolved (decisions G-43, G-80): form,
 * scheme, user name, own hosts, port, IP literals in any spelling, private names. The URL of a positive verdict has
 * its root dot removed. Callers turn a refusal into `invalid_request` (or the code of their surface).
 */
export function judgePublicUrl(value: unknown, policy: UrlPolicy): UrlVerdict {
  const url = parseWebUrl(value);
  if (url === undefined) return { refusal: 'must be an http or https URL' };
  if (USER_INFO.test(String(value))) return { refusal: 'must not carry a user name or password' };
  if (policy.isOwnFile?.(url)) return { url };
  const host = hostOf(url);
  const port = portOf(url);
  const isOpened = policy.rules.opens(host, port);
  const isOwn = (own: URL): boolean => hostOf(own) === host && (!isOpened || portOf(own) === port);
  if (policy.ownUrls?.some(isOwn)) return { refusal: 'must not point at this service' };
  if (isOpened) return { url };
  if (policy.isHttpsOnly && url.protocol !== 'https:') return { refusal: 'must be an https URL' };
  if (!isPublicHost(host)) return { refusal: 'must point at a public host' };
  if (!isPublicPort(port)) return { refusal: 'must use a port that serves public media' };
  return { url };
}

/** Host of a URL without the brackets of IPv6 and without the root dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** Port of an http or https URL, the scheme's own when it names none. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** The target of a `Location` header seen from `base`, or undefined when it is not a clean URL. */
export function resolveLocation(location: string, base: URL): string | undefined {
  if (AMBIGUOUS.test(location) || !URL.canParse(location, base.href)) return undefined;
  return new URL(location, base).href;
}

function parseWebUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string' || value.length > MAX_URL_CHARACTERS) return undefined;
  if (!WEB_URL.test(value) || AMBIGUOUS.test(value) || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url;
}

function isPublicPort(port: number): boolean {
  return WEB_PORTS.has(port) || (port >= FIRST_FREE_PORT && !REFUSED_PORTS.has(port));
}

function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  if (host.length > MAX_NAME_CHARACTERS) return false;
  const labels = host.split('.');
  if (labels.length < 2 || labels.includes('')) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}
