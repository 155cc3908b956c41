import { databaseUrlsOf } from '../../common/database-urls.js';
import { redisServersOf } from '../../common/redis-urls.js';
import { trimTrailingSlashes, parseUrl } from '../../common/parse-url.js';
import { DAY_MS } from '../../common/time/spans.js';
import { EVERY_ORIGIN } from '../http-server/responses/every-origin.js';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { EgressRules } from '../http-client/egress-rules.js';
import type { GatewayConfig } from './gateway-config.js';

/** Outcome of reading one variable: its value, or why it is rejected (without quoting a secret). */
export type Reading<T> = { readonly value: T } | { readonly problem: string };

/** How one environment variable becomes one field of the configuration. */
export interface Setting<K extends keyof GatewayConfig = keyof GatewayConfig> {
  readonly field: K;
  /** Default as the documentation shows it. */
  readonly shownDefault: string;
  readonly meaning: string;
  /** Secrets are never quoted in a problem. */
  readonly secret?: boolean;
  /** Value when the variable is unset or empty. */
  readonly fallback: GatewayConfig[K];
  readonly read: (text: string) => Reading<NonNullable<GatewayConfig[K]>>;
}

/** A row of the table of settings. */
export const setting = <K extends keyof GatewayConfig>(
  field: K,
  shownDefault: string,
  fallback: GatewayConfig[K],
  read: Setting<K>['read'],
  meaning: string,
): Setting<K> => ({ field, shownDefault, fallback, read, meaning });
/** The same row, for a value that is never quoted. */
export const secret = <K extends keyof GatewayConfig>(row: Setting<K>): Setting<K> => ({
  ...row,
  secret: true,
});

const good = <T>(value: T): Reading<T> => ({ value });
const bad = (problem: string): { problem: string } => ({ problem });

/** A whole number within bounds. */
export const whole =
  (min: number, max: number) =>
  (text: string): Reading<number> => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max
      ? good(value)
      : bad(`must be a whole number from ${min} to ${max}`);
  };

/** One of several fixed values. */
export const oneOf =
  <T extends string>(...words: T[]) =>
  (text: string): Reading<T> => {
    const word = words.find((candidate) => candidate === text);
    return word === undefined ? bad(`must be one of ${words.join(', ')}`) : good(word);
  };

/** Any text of a minimum length. */
export const text =
  (minLength = 1) =>
  (value: string): Reading<string> =>
    value.length >= minLength ? good(value) : bad(`must have at least ${minLength} characters`);

/** A name of small letters and digits. */
export const shortName =
  (maxLength: number) =>
  (value: string): Reading<string> =>
    value.length <= maxLength && /^[0-9a-z]+$/.test(value)
      ? good(value)
      : bad(`must be 1 to ${maxLength} small letters and digits`);

/** A key that is sent in a header: visible ASCII without spaces. */
export const headerKey = (value: string): Reading<string> =>
  /^[\x21-\x7e]+$/.test(value) ? good(value) : bad('must be visible ASCII characters, no spaces');

/** A token that callers send in a header: visible ASCII, because other characters cannot be sent in a header. */
export const token =
  (minLength: number) =>
  (value: string): Reading<string> => {
    const long = text(minLength)(value);
    return 'problem' in long ? long : headerKey(value);
  };

/** An address with one of the schemes, without a trailing slash. */
export const address =
  (...schemes: string[]) =>
  (value: string): Reading<string> => {
    const parsed = parseUrl(value);
    return parsed && schemes.includes(parsed.protocol.slice(0, -1))
      ? good(trimTrailingSlashes(value))
      : bad(`must be a URL with scheme ${schemes.join(' or ')}`);
  };

/** What a parser takes, without a trailing slash; the parser's error says what is wrong. */
const serversReadBy =
  (parse: (value: string) => unknown) =>
  (value: string): Reading<string> => {
    try {
      parse(value);
      return good(trimTrailingSlashes(value));
    } catch (error) {
      return bad((error as Error).message);
    }
  };

/** One Redis, sentinels or a cluster. */
export const redis = serversReadBy(redisServersOf);
/** One or several servers of a database. */
export const databases = serversReadBy(databaseUrlsOf);

/**
 * Where to listen: an address or a host name. An address of another machine is detected when the gateway starts to
 * listen.
 */
export const host = (value: string): Reading<string> => {
  const parts = /^\d+(\.\d+){3}$/.test(value) ? value.split('.') : [];
  const isNone = parts.some((part) => Number(part) > 255) || (value.includes(':') && !isIP(value));
  return isNone ? bad('must be an address or the name of a host, without a port') : good(value);
};

/** A base URL for paths, without a trailing slash. */
export const baseUrl = (value: string): Reading<string> => {
  const reading = address('http', 'https')(value);
  return 'value' in reading && /[?#]/.test(value)
    ? bad('must have no query and no fragment')
    : reading;
};

const ACCOUNT_PLACE = '{account}';
/** A URL with `{account}` where the id of an account stands. */
export const accountPage = (value: string): Reading<string> => {
  const reading = address('http', 'https')(value.replaceAll(ACCOUNT_PLACE, 'acct_0'));
  if ('problem' in reading) return reading;
  const isWhole =
    value.includes(ACCOUNT_PLACE) && !/[{}]/.test(value.replaceAll(ACCOUNT_PLACE, ''));
  return isWhole
    ? good(value)
    : bad('must have {account} where the id of the account stands, and no other braces');
};

/** Where files are stored: an absolute path of this machine, or a bucket with an optional prefix. */
export const storage = (value: string): Reading<string> => {
  const reading = address('file', 's3')(value);
  if ('problem' in reading) return reading;
  const { protocol, hostname, pathname } = new URL(value);
  const isBucket = protocol === 's3:' && hostname !== '';
  const isPath = protocol === 'file:' && hostname === '' && pathname !== '/';
  return isBucket || isPath ? reading : bad('must be file:///path or s3://bucket/prefix');
};

/** A comma-separated list whose items are all valid. */
export const listOf =
  (check: (item: string) => string | undefined, limit: number) =>
  (value: string): Reading<readonly string[]> => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    if (items.length > limit) return bad(`takes at most ${limit} entries`);
    const problems = items.map(check).filter((problem) => problem !== undefined);
    return problems.length > 0 ? bad(problems.join('; ')) : good(items);
  };

const SECRET_KEY_MIN_LENGTH = 32;
const LIST_LIMIT = 100;

/** Whole milliseconds, separated by commas. */
export const delays = (value: string): Reading<readonly number[]> => {
  const items = value.split(',').map((item) => whole(0, 7 * DAY_MS)(item.trim()));
  if (items.length > LIST_LIMIT) return { problem: `takes at most ${LIST_LIMIT} entries` };
  const numbers = items.flatMap((item) => ('value' in item ? [item.value] : []));
  return numbers.length === items.length
    ? { value: numbers }
    : { problem: 'must be whole milliseconds, separated by commas' };
};
const keyList = listOf(
  (item) =>
    item.length >= SECRET_KEY_MIN_LENGTH
      ? undefined
      : `each key must have at least ${SECRET_KEY_MIN_LENGTH} characters`,
  LIST_LIMIT,
);
/** Encryption keys, separated by commas; at least one. */
export const secretKeys = (value: string): Reading<readonly string[]> => {
  const reading = keyList(value);
  const isEmpty = 'value' in reading && reading.value.length === 0;
  return isEmpty ? bad(`must have at least ${SECRET_KEY_MIN_LENGTH} characters`) : reading;
};
/** A number of processes, or one per core. */
export const workers = (value: string): Reading<number | 'auto'> =>
  value === 'auto' ? { value } : whole(1, 128)(value);
function egressProblem(entry: string): string | undefined {
  try {
    EgressRules.parse(entry);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Origins of apps and extensions, such as `tauri://localhost`; http and https origins are checked by the URL parser.
 */
const APP_ORIGIN =
  /^(?!(?:https?|ftp|wss?|file|data|blob|javascript|about):)[a-z][a-z\d+.-]*:\/\/[^\s/?#@\\]+$/;

const originProblem = (item: string): string | undefined => {
  if (item === EVERY_ORIGIN || APP_ORIGIN.test(item)) return undefined;
  return /^https?:/.test(item) && parseUrl(item)?.origin === item
    ? undefined
    : `${item} is no origin such as https://app.example or tauri://localhost`;
};

/** Origins of web pages and apps: scheme, host and port, without a path; or every origin. */
export const origins = listOf(originProblem, LIST_LIMIT);
/** Addresses and networks, such as those of a load balancer. */
export const networks = listOf((item) => {
  // A number such as 1, which other servers take as a count of proxies, would be the address 0.0.0.1.
  const [address = ''] = item.split('/');
  const isWhole = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isWhole && (address === item || ipaddr.isValidCIDR(item))
    ? undefined
    : `${item} is neither an address nor a network, such as 10.0.0.1 or 10.0.0.0/8`;
}, LIST_LIMIT);
/** Hosts, addresses or networks with an optional port. */
export const egress = listOf(egressProblem, LIST_LIMIT);

const HEADER_NAME = /^[\w-]{1,64}$/;
/** Headers with secrets, which a record must not name. */
const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'x-api-key'];
/** Names of request headers. */
export const headerNames = listOf((item) => {
  const isOpen = HEADER_NAME.test(item) && !SECRET_HEADERS.includes(item.toLowerCase());
  return isOpen ? undefined : `${item} is no name of a header, or of one with a secret`;
}, LIST_LIMIT);

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The address of an identity provider: over HTTPS, or on this machine. */
export const issuer = (value: string): Reading<string> => {
  const parsed = parseUrl(value);
  const isHttps = parsed?.protocol === 'https:';
  const isLocal = parsed?.protocol === 'http:' && LOOPBACK_HOST.test(parsed.hostname);
  if (!(isHttps || isLocal)) return bad('must be an https URL');
  return /[?#]/.test(value) ? bad('must have no query and no fragment') : good(value);
};

const ROLE_RULE = /^[^=]+=.+:(?:viewer|support|finance|admin)$/;
/** Claims of an identity provider and the roles that they give. */
export const roleRules = listOf(
  (item) =>
    ROLE_RULE.test(item)
      ? undefined
      : `${item} is not a claim, =, its value, : and one of viewer, support, finance, admin`,
  LIST_LIMIT,
);
