import { parseUrl } from '../../common/parse-url.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { isGatewayVariable } from '../../platform/config/environment-variables.js';
import {
  checkOf,
  holding,
  listed,
  mapped,
  formed,
  eitherOf,
  shaped,
  type VendorCheck,
} from './vendor-checks.js';
import {
  CHOSEN_FIELDS,
  OPTIONAL_FIELDS,
  VENDOR_ERROR_KINDS,
  VENDOR_METHODS,
  VENDOR_STATES,
  type VendorFile,
} from './vendor-file.js';
import { crossFaults } from './vendor-cross-faults.js';
import { checkModels } from './vendor-models.js';
import { checkTemplate, TEMPLATE_DEFINITIONS } from './vendor-template-check.js';

/** Longest URL of a file, and of a vendor's answer. */
export const MAX_VENDOR_URL_CHARS = 2_048;
const MAX_ENTRIES = 100;
/** All pairs of fields that may exclude each other. */
const MAX_PAIRS = 10;
/** The gateway writes these itself, or the auth does. */
const OWN_HEADERS =
  /^(authorization|connection|content-(length|type)|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

const checkPath = formed(
  /^[A-Za-z_][\w-]{0,99}(\.[\w-]{1,100}){0,11}$/,
  'names of fields with dots between them',
);
const checkPaths = listed(checkPath, 10);
const checkWord = formed(/^[\x20-\x7e]{1,100}$/, 'a text of 1 to 100 printable characters');
const checkCode = formed(
  /^[\x20-\x29\x2b-\x7e]{1,100}\*?$/,
  'a code, with a * at its end for all that begin so',
);
const checkHeaderName = formed(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, 'the name of a header');

const isHttpUrl = (value: unknown): URL | undefined => {
  if (typeof value !== 'string' || value.length > MAX_VENDOR_URL_CHARS) return undefined;
  const url = parseUrl(value);
  const isPlain = url?.username === '' && url.password === '' && /^https?:$/.test(url.protocol);
  return isPlain ? url : undefined;
};
const checkBaseUrl = holding(
  (value) => isHttpUrl(value) !== undefined && /^[^\s?#]*[^\s?#/]$/.test(String(value)),
  'an http or https URL without a query and without a slash at its end',
  {
    type: 'string',
    pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
    maxLength: MAX_VENDOR_URL_CHARS,
  },
);
const checkOrigin = holding(
  (value) => isHttpUrl(value)?.origin === value,
  'an origin such as https://host',
  { type: 'string', pattern: '^https?://[^\\s/?#@]+$', maxLength: MAX_VENDOR_URL_CHARS },
);

/** A path of the API in which only these words stand in braces. */
const apiPath = (...words: string[]): VendorCheck => {
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
function oneOfShapes(field: string, shapes: Readonly<Record<string, VendorCheck>>): VendorCheck {
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

const checkAuth = oneOfShapes('in', AUTHS);

const byWord = (words: readonly string[], entry: VendorCheck): VendorCheck =>
  shaped(Object.fromEntries(words.map((word) => [`${word}?`, entry])));

const checkKind = eitherOf(VENDOR_ERROR_KINDS);
const checkMethod = eitherOf(VENDOR_METHODS);
const checkJobPath = apiPath('{id}', '{model}', '{variant}');
const checkVariant = formed(/^[\w-]{1,50}$/, '1 to 50 letters, digits, hyphens and underscores');
const checkVariable = formed(
  /^([A-Z][A-Z0-9_]{0,99})?$/,
  'the name of an environment variable, or ""',
);
const checkSwitch = holding((value) => typeof value === 'boolean', 'true or false', {
  type: 'boolean',
});

const checkWords = listed(checkWord, MAX_ENTRIES);
const UNFINISHED = VENDOR_STATES.filter((state) => state !== 'succeeded');

const COSTS: Readonly<Record<string, VendorCheck>> = {
  usd: shaped({ path: checkPath, unit: eitherOf(['usd']) }),
  unit: shaped({
    path: checkPath,
    unit: eitherOf(['unit']),
    micro_usd_per_million_units: holding(
      (value) => Number.isSafeInteger(value) && Number(value) > 0,
      'a whole number above 0',
      { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    ),
  }),
};

const checkCost = oneOfShapes('unit', COSTS);

const checkPair = listed(eitherOf(OPTIONAL_FIELDS), 2, 2);
/** A frame at the end never comes alone, so the pair of both frames would take it from every caller. */
const checkApart = listed(
  checkOf(checkPair.schema, (value, at, faults) => {
    const before = faults.length;
    checkPair(value, at, faults);
    if (faults.length > before) return;
    const fields = value as readonly unknown[];
    if (fields[0] === fields[1]) faults.push(`${at}: must be two different fields`);
    if (fields.includes('first_frame_url') && fields.includes('last_frame_url')) {
      faults.push(`${at}: last_frame_url always comes with first_frame_url`);
    }
  }),
  MAX_PAIRS,
  0,
);

const SHAPE = shaped({
  '$schema?': formed(/^[\x21-\x7e]{1,500}$/, 'where the schema of this file is'),
  id: formed(/^[a-z][a-z0-9-]{0,63}$/, 'lowercase letters, digits and hyphens'),
  protocol: eitherOf(['async-json']),
  key_env: checkOf(checkVariable.schema, (value, at, faults) => {
    checkVariable(value, at, faults);
    if (typeof value === 'string' && isGatewayVariable(value))
      faults.push(`${at}: ${value} is a setting of the gateway`);
  }),
  base_url: checkBaseUrl,
  'origins?': listed(checkOrigin, MAX_ENTRIES),
  auth: checkAuth,
  'headers?': mapped(
    checkOf(checkHeaderName.schema, (name, at, faults) => {
      checkHeaderName(name, at, faults);
      if (OWN_HEADERS.test(String(name))) faults.push(`${at}: is written by the gateway`);
    }),
    checkWord,
    MAX_ENTRIES,
  ),
  submit: shaped({
    'variant?': checkVariant,
    path: apiPath('{model}'),
    body: checkTemplate,
    'not_together?': checkApart,
    'variants?': listed(
      shaped({
        'variant?': checkVariant,
        'models?': listed(checkCode, MAX_ENTRIES),
        'has?': listed(eitherOf(CHOSEN_FIELDS), CHOSEN_FIELDS.length),
        'path?': apiPath('{model}'),
        'body?': checkTemplate,
        'not_together?': checkApart,
      }),
      MAX_ENTRIES,
    ),
    'id?': checkPath,
    'read_url?': checkPath,
  }),
  'lookup?': shaped({
    path: apiPath('{reference}', '{model}', '{variant}'),
    'items?': checkPath,
    id: checkPath,
    reference: checkPath,
    absent: listed(checkCode, MAX_ENTRIES, 0),
    'absent_when_missing?': checkSwitch,
    'more?': checkPath,
  }),
  read: shaped({
    'path?': checkJobPath,
    state: checkPath,
    states: shaped({
      succeeded: checkWords,
      ...Object.fromEntries(UNFINISHED.map((state) => [`${state}?`, checkWords])),
    }),
    'waiting_statuses?': listed(
      holding(
        (value) => Number.isInteger(value) && Number(value) >= 201 && Number(value) <= 299,
        'a status from 201 to 299',
        { type: 'integer', minimum: 201, maximum: 299 },
      ),
      10,
    ),
    'progress?': shaped({
      path: checkPath,
      full: holding((value) => value === 1 || value === 100, '1 or 100', { enum: [1, 100] }),
    }),
    'failed_if?': checkPath,
    'failure_code?': checkPaths,
    'failure_message?': checkPaths,
  }),
  result: shaped({
    url: checkPaths,
    'request?': shaped({
      'path?': apiPath('{id}', '{model}', '{value}'),
      'value?': checkPath,
      'given?': checkPath,
    }),
    'with_key?': checkSwitch,
  }),
  'cancel?': shaped({ method: checkMethod, 'path?': checkJobPath, 'given?': checkPath }),
  'delete?': shaped({ method: checkMethod, path: checkJobPath }),
  'errors?': shaped({
    'code?': checkPaths,
    'message?': checkPaths,
    'in_body?': shaped({ path: checkPath, ok: checkWords }),
    'codes?': byWord(VENDOR_ERROR_KINDS, listed(checkCode, MAX_ENTRIES)),
    'statuses?': mapped(formed(/^[45]\d\d$/, 'a status from 400 to 599'), checkKind, MAX_ENTRIES),
    'retry_after?': checkPath,
  }),
  'cost?': checkCost,
  'models?': checkModels,
});

/** The JSON Schema of a file: it refuses what one field alone shows to be wrong. `vendors/vendor.schema.json` holds it. */
export const VENDOR_SCHEMA: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A vendor of videos (docs/guides/add-a-vendor.md)',
  ...SHAPE.schema,
  definitions: TEMPLATE_DEFINITIONS,
};

/** Everything that is wrong with the JSON of a vendor's file, each with its path; empty for a good one. */
export function vendorFaults(json: unknown): string[] {
  const faults: string[] = [];
  SHAPE(json, '', faults);
  return faults.length > 0 ? faults : crossFaults(json as VendorFile);
}
