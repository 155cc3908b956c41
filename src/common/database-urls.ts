import { parseUrl } from './parse-url.js';

/** One server that `DATABASE_URL` names, and whether it must take writes. */
export interface DatabaseUrls {
  /** One URL for each server, in order; each has exactly one host. */
  readonly urls: readonly string[];
  /** Whether servers that accept no writes are skipped. */
  readonly mustWrite: boolean;
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)((?:[/?].*)?)$/s;
/** Values of `target_session_attrs`; the others mean servers that the gateway cannot use. */
const WRITES = new Set(['read-write', 'primary']);

/**
 * The servers of `postgresql://user@first:5432,second:5433/name?target_session_attrs=read-write`, or with lists in
 * `host` and `port`. With several hosts those that accept no writes are always skipped. Throws an Error with a message
 * for people.
 */
export function databaseUrlsOf(text: string): DatabaseUrls {
  const [, head = '', hosts = '', tail = ''] = URL_PARTS.exec(text) ?? [];
  if (head === '') throw new Error('must be a URL with scheme postgres or postgresql');
  const all = hosts.split(',').map((host) => urlOf(`${head}${host}${tail}`));
  const urls = all.flatMap((url) => byParameters(url));
  const attrs = all[0]?.searchParams.get('target_session_attrs') ?? 'any';
  if (attrs !== 'any' && !WRITES.has(attrs)) {
    throw new Error(`target_session_attrs must be read-write or any, because the gateway writes`);
  }
  for (const url of urls) url.searchParams.delete('target_session_attrs');
  return {
    urls: urls.map(({ href }) => href),
    mustWrite: urls.length > 1 || WRITES.has(attrs),
  };
}

/** A URL for each host that its parameters list. */
function byParameters(url: URL): URL[] {
  const hosts = url.searchParams.get('host')?.split(',') ?? [];
  const ports = url.searchParams.get('port')?.split(',') ?? [];
  if (hosts.length < 2) return [url];
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new Error('must list one port, or one for each host');
  }
  return hosts.map((host, index) => {
    const one = new URL(url);
    one.searchParams.set('host', host);
    const port = ports.length > 1 ? ports[index] : ports[0];
    if (port !== undefined) one.searchParams.set('port', port);
    return one;
  });
}

function urlOf(text: string): URL {
  const url = parseUrl(text);
  if (!url) throw new Error('must be a URL such as postgresql://user@host:5432/name');
  return url;
}
