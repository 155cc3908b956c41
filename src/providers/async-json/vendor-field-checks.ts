import { parseUrl } from '../../common/parse-url.js';
import { isJsonObject } from '../../common/json-object.js';
import {
  checkOf,
  eitherOf,
  formed,
  holding,
  listed,
  mapped,
  shaped,
  type VendorCheck,
} from './vendor-checks.js';

/** Longest URL of a file, and of a vendor's answer. */
export const MAX_VENDOR_URL_CHARS = 2_048;
/** Entries of a list, and keys of an object. */
export const MAX_ENTRIES = 100;
/** The gateway writes these itself, or the auth does. */
const OWN_HEADERS =
  /^(authorization|connection|content-(length|type)|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Names of fields, with dots between them. */
export const checkPath = formed(
  /^[A-Za-z_][\w-]{0,99}(\.[\w-]{1,100}){0,11}$/,
  'names of fields with dots between them',
);
/** Paths, of which the first counts that leads to something. */
export const checkPaths = listed(checkPath, 10);
/** Paths of results, in which a `*` stands for each entry of a list. */
export const checkResultPaths = listed(
  formed(
    /^[A-Za-z_][\w-]{0,99}(\.([\w-]{1,100}|\*)){0,11}$/,
    'names of fields with dots between them, or * for each entry of a list',
  ),
  10,
);
/** A word of a vendor. */
export const checkWord = formed(/^[\x20-\x7e]{1,100}$/, 'a text of 1 to 100 printable characters');
/** A word with `*` at its end for all that begin so. */
export const checkCode = formed(
  /^[\x20-\x29\x2b-\x7e]{1,100}\*?$/,
  'a code, with a * at its end for all that begin so',
);
/** A form of a message. */
export const checkMessage = holding(
  (value) =>
    typeof value === 'string' &&
    /^[^\p{Cc}]{1,200}$/u.test(value) &&
    value.split('{seconds}').length <= 2 &&
    /[^*\s]/.test(value.replace('{seconds}', '')),
  'a text of 1 to 200 characters, with * for any text and at most one {seconds}',
  {
    type: 'string',
    pattern:
      '^(?!.*\\{seconds\\}.*\\{seconds\\})(?!(?:[*\\s]|\\{seconds\\})*$)[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}$',
  },
);
const checkHeaderName = formed(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, 'the name of a header');

const isHttpUrl = (value: unknown): URL | undefined => {
  if (typeof value !== 'string' || value.length > MAX_VENDOR_URL_CHARS) return undefined;
  const url = parseUrl(value);
  const isPlain = url?.username === '' && url.password === '' && /^https?:$/.test(url.protocol);
  return isPlain ? url : undefined;
};
/** The URL before each path. */
export const checkBaseUrl = holding(
  (value) => isHttpUrl(value) !== undefined && /^[^\s?#]*[^\s?#/]$/.test(String(value)),
  'an http or https URL without a query and without a slash at its end',
  {
    type: 'string',
    pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
    maxLength: MAX_VENDOR_URL_CHARS,
  },
);
/** An origin that may get the key. */
export const checkOrigin = holding(
  (value) => isHttpUrl(value)?.origin === value,
  'an origin such as https://host',
  { type: 'string', pattern: '^https?://[^\\s/?#@]+$', maxLength: MAX_VENDOR_URL_CHARS },
);

/** A path of the API in which only these words stand in braces. */
export const apiPath = (...words: string[]): VendorCheck => {
  const marks = words.map((word) => word.replace('{', '\\{').replace('}', '\\}')).join('|');
  const pattern = `^/(?!/)(?!.*(?:\\.\\.|%2[eE]))(?:${marks}|[!"$-z|~])*$`;
  return checkOf({ type: 'string', pattern, maxLength: 501 }, (value, at, faults) => {
    const isText = typeof value === 'string' && /^\/[\x21-\x7e]{0,500}$/.test(value);
    if (!isText || /\.\.|%2e/i.test(value) || value.startsWith('//') || value.includes('#')) {
      faults.push(`${at}: must be a path that begins with one slash`);
      return;
    }
    for (const [mark] of value.matchAll(/\{[^{}]*\}|[{}]/g)) {
      if (!words.includes(mark)) faults.push(`${at}: ${mark} is none of ${words.join(', ')}`);
    }
  });
};

/** One of several shapes, of which a field says which. */
export function oneOfShapes(
  field: string,
  shapes: Readonly<Record<string, VendorCheck>>,
): VendorCheck {
  const schema = { anyOf: Object.values(shapes).map((shape) => shape.schema) };
  return checkOf(schema, (value, at, faults) => {
    const word = isJsonObject(value) ? String(value[field]) : '';
    const check = Object.hasOwn(shapes, word) ? shapes[word] : undefined;
    if (check) check(value, at, faults);
    else faults.push(`${at}.${field}: must be one of ${Object.keys(shapes).join(', ')}`);
  });
}

const AUTHS: Readonly<Record<string, VendorCheck>> = {
  bearer: shaped({ in: eitherOf(['bearer']) }),
  jwt: shaped({ in: eitherOf(['jwt']) }),
  header: shaped({
    in: eitherOf(['header']),
    name: checkOf(checkHeaderName.schema, (name, at, faults) => {
      checkHeaderName(name, at, faults);
      if (/^(?!authorization$)/i.test(String(name)) && OWN_HEADERS.test(String(name))) {
        faults.push(`${at}: is written by the gateway`);
      }
    }),
    'prefix?': formed(/^[\x20-\x7e]{0,50}$/, 'at most 50 printable characters'),
  }),
  query: shaped({
    in: eitherOf(['query']),
    name: formed(/^[\w-]{1,100}$/, 'the name of a parameter'),
  }),
};

/** How the key is sent. */
export const checkAuth = oneOfShapes('in', AUTHS);

/** Headers that are the same in every request. */
export const checkHeaders = mapped(
  checkOf(checkHeaderName.schema, (name, at, faults) => {
    checkHeaderName(name, at, faults);
    if (OWN_HEADERS.test(String(name))) faults.push(`${at}: is written by the gateway`);
  }),
  checkWord,
  MAX_ENTRIES,
);
