import { isIP } from 'node:net';
import type { EgressRules } from './egress-rules.js';
import type { SandboxFiles } from './sandbox-files.js';
import { isPublicAddress } from './public-address.js';
import { parseUrl } from '../../common/parse-url.js';

/** Longest URL of a caller. Enough for presigned storage URLs with a session token. */
export const MAX_URL_CHARACTERS = 4_096;
const MAX_NAME_CHARACTERS = 253;
const FIRST_FREE_PORT = 1_024;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
/** High ports of databases, caches and cluster managers. Public media are never served there. */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  2375, 2376, 2379, 2380, 3306, 5432, 6379, 8500, 9200, 10250, 11211, 27017,
]);
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'localdomain', 'home.arpa'];

const WEB_URL = /^https?:\/\/[^/]/i;
// The parser drops or rewrites these, so that different parsers of the same text would disagree about the host.
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const AMBIGUOUS = /[\u0000-\u0020\u007f\\]/;
const USER_INFO = /^https?:\/\/[^/?#]*@/i;

/** What a URL may lead to in addition to public hosts. */
export interface UrlPolicy {
  /** Private hosts and addresses that the operator permits. */
  readonly rules: EgressRules;
  /**
   * Addresses of this service, which are rejected as targets. Its origin is always rejected; its host is rejected
   * unless a rule permits the port.
   */
  readonly ownUrls?: readonly URL[];
  /** Files of this service that may be read, although its host is refused. */
  readonly sandboxFiles?: Pick<SandboxFiles, 'fileAt' | 'rejectionOf'> | undefined;
  /** Reject `http` unless a rule permits the host (webhooks of audio tasks). */
  readonly isHttpsOnly?: boolean;
}

/** The parsed URL, or why it is rejected, as words that follow the name of a field (`audio_url must …`). */
export type UrlVerdict = { readonly url: URL } | { readonly rejection: string };

/**
 * Checks everything in the text of a URL before its host name is resolved (decisions G-43, G-80): form, scheme, user
 * name, own hosts, port, IP literals in any spelling, private names. The accepted URL has no root dot. Callers turn a
 * rejection into `invalid_request` (or the code of their API family).
 */
export function validatePublicUrl(value: unknown, policy: UrlPolicy): UrlVerdict {
  const url = parseWebUrl(value);
  if (url === undefined) return { rejection: 'must be an http or https URL' };
  if (USER_INFO.test(String(value))) return { rejection: 'must not carry a user name or password' };
  if (policy.sandboxFiles?.fileAt(url)) return { url };
  const rejection = rejectionOf(url, policy);
  if (rejection === undefined) return { url };
  return { rejection: policy.sandboxFiles?.rejectionOf(url) ?? rejection };
}

function rejectionOf(url: URL, policy: UrlPolicy): string | undefined {
  const host = hostOf(url);
  const port = portOf(url);
  const isOpened = policy.rules.opens(host, port);
  const isOwn = (own: URL): boolean => hostOf(own) === host && (!isOpened || portOf(own) === port);
  if (policy.ownUrls?.some(isOwn)) return 'must not point at the host of this service';
  if (isOpened) return undefined;
  if (policy.isHttpsOnly && url.protocol !== 'https:') return 'must be an https URL';
  if (!isPublicHost(host)) return 'must point at a public host';
  return isPublicPort(port) ? undefined : 'must use a port that serves public media';
}

/** Host of a URL without the brackets of IPv6 and without the root dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** Port of an http or https URL; the default of the scheme when it names none. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** The target of a `Location` header, relative to `base`; undefined when it is not a valid URL. */
export function resolveLocation(location: string, base: URL): string | undefined {
  return AMBIGUOUS.test(location) ? undefined : parseUrl(location, base.href)?.href;
}

function parseWebUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string' || value.length > MAX_URL_CHARACTERS) return undefined;
  if (!WEB_URL.test(value) || AMBIGUOUS.test(value)) return undefined;
  const url = parseUrl(value);
  if (!url) return undefined;
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url;
}

function isPublicPort(port: number): boolean {
  return WEB_PORTS.has(port) || (port >= FIRST_FREE_PORT && !BLOCKED_PORTS.has(port));
}

function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  if (host.length > MAX_NAME_CHARACTERS) return false;
  const labels = host.split('.');
  if (labels.length < 2 || labels.includes('')) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}
