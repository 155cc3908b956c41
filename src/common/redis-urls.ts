import { parseUrl } from './parse-url.js';

/** What `REDIS_URL` names. */
export interface RedisServers {
  /** One server, the sentinels that know the primary of a service, or nodes of a cluster. */
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly username?: string;
  readonly password?: string;
  /** Of the sentinels, where they ask for one. */
  readonly sentinelPassword?: string;
  readonly isTls: boolean;
  /** The name by which sentinels know the service; empty for the others. */
  readonly service: string;
  readonly database: number;
}

const PARTS = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/((?:[^@/?]*@)?)([^/?]+)((?:[/?].*)?)$/s;
const DEFAULT_PORT = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;

/**
 * The servers of `redis://user:password@host:6379/0`, `redis+sentinel://:password@first,second:26379/service/0?sentinelPassword=…` or
 * `redis+cluster://:password@first,second`; `rediss` is TLS. Throws an Error with a message for people.
 */
export function redisServersOf(text: string): RedisServers {
  const [, scheme, word, login = '', list = '', tail = ''] = PARTS.exec(text) ?? [];
  if (scheme === undefined) {
    throw new Error('must be a URL with scheme redis, rediss, redis+sentinel or redis+cluster');
  }
  const kind = (word ?? 'single') as RedisServers['kind'];
  // The parser knows the parts of a scheme of the web only.
  const urls = list.split(',').map((host) => parseUrl(`http://${login}${host}${tail}`));
  const [url] = urls;
  if (url === undefined || urls.includes(undefined) || (kind === 'single' && urls.length > 1)) {
    throw new Error('must be a URL such as redis://host:6379 or redis+cluster://first,second');
  }
  const port = DEFAULT_PORT[kind];
  return {
    kind,
    hosts: list
      .split(',')
      .map((host, nr) => ({ host: hostOf(urls[nr]), port: portOf(host, port) })),
    ...secretsOf(url),
    isTls: scheme === 'rediss',
    ...pathOf(url, kind),
  };
}

/** Without the brackets that an IPv6 address has in a URL. */
const hostOf = (url: URL | undefined): string => (url?.hostname ?? '').replace(/^\[|\]$/g, '');

/** From the text, because the parser drops the port 80. */
const portOf = (host: string, otherwise: number): number =>
  Number(/:(\d+)$/.exec(host)?.[1] ?? otherwise);

function secretsOf({ username, password, searchParams }: URL) {
  const sentinelPassword = searchParams.get('sentinelPassword');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(sentinelPassword !== null && { sentinelPassword }),
  };
}

/** The service, of sentinels only, and the number of the database. */
function pathOf({ pathname }: URL, kind: RedisServers['kind']) {
  const path = pathname.split('/').slice(1);
  const service = kind === 'sentinel' ? decodeURIComponent(path.shift() ?? '') : '';
  if (kind === 'sentinel' && service === '') {
    throw new Error('must name the service of the sentinels: redis+sentinel://host:26379/service');
  }
  const database = Number(path[0] ?? '0');
  if (!Number.isSafeInteger(database) || (kind === 'cluster' && database !== 0)) {
    throw new Error('must end with the number of a database; a cluster has only 0');
  }
  return { service, database };
}
