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
  wholeUpTo,
  type VendorCheck,
} from './vendor-checks.js';
import {
  apiPath,
  checkAuth,
  checkBaseUrl,
  checkCode,
  checkHeaders,
  checkMessage,
  checkOrigin,
  checkPath,
  checkPaths,
  checkResultPaths,
  checkWord,
  MAX_ENTRIES,
  oneOfShapes,
} from './vendor-field-checks.js';
import {
  ALL_FIELDS,
  ASKED_FIELDS,
  choosingFields,
  OPTIONAL_FIELDS,
  VENDOR_OPERATIONS,
  type VendorOperation,
} from './vendor-fields.js';
import {
  VENDOR_ERROR_KINDS,
  VENDOR_METHODS,
  VENDOR_STATES,
  type VendorFile,
} from './vendor-file.js';
import { crossFaults } from './vendor-cross-faults.js';
import { checkModels } from './vendor-models.js';
import { checkSame, checkTemplate, TEMPLATE_DEFINITIONS } from './vendor-template-check.js';

/** Places of errors in one body. */
const MAX_BODY_ERRORS = 10;
/** All pairs of fields that may exclude each other. */
const MAX_PAIRS = 10;

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
    micro_usd_per_million_units: wholeUpTo(Number.MAX_SAFE_INTEGER, 'a whole number above 0'),
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

/** How a job of the operation is submitted. */
function checkSubmit(operation: VendorOperation): VendorCheck {
  const body = checkTemplate(operation);
  const chosen = choosingFields(ASKED_FIELDS[operation]);
  const anyChosen = choosingFields(ALL_FIELDS);
  const has = checkOf(
    listed(eitherOf(anyChosen), anyChosen.length).schema,
    listed(eitherOf(chosen), chosen.length),
  );
  return shaped({
    'variant?': checkVariant,
    path: apiPath('{model}'),
    body,
    'not_together?': checkApart,
    'variants?': listed(
      shaped({
        'variant?': checkVariant,
        'models?': listed(checkCode, MAX_ENTRIES),
        'has?': has,
        'path?': apiPath('{model}'),
        'body?': body,
        'not_together?': checkApart,
      }),
      MAX_ENTRIES,
    ),
    'id?': checkPath,
    'read_url?': checkPath,
  });
}

const checkLookup = shaped({
  path: apiPath('{reference}', '{model}', '{variant}'),
  'items?': checkPath,
  id: checkPath,
  'reference?': checkPath,
  'made_at?': checkPath,
  'same?': checkSame,
  absent: listed(checkCode, MAX_ENTRIES, 0),
  'absent_when_missing?': checkSwitch,
  'more?': checkPath,
});

const checkRead = shaped({
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
  'refused_unless?': checkPath,
  'failure_code?': checkPaths,
  'failure_message?': checkPaths,
});

const checkResult = shaped({
  url: checkResultPaths,
  'request?': shaped({
    'path?': apiPath('{id}', '{model}', '{value}'),
    'value?': checkPath,
    'given?': checkPath,
  }),
  'with_key?': checkSwitch,
});

const checkErrors = shaped({
  'code?': checkPaths,
  'message?': checkPaths,
  'in_body?': listed(
    shaped({ path: checkPath, 'ok?': checkWords, 'is_status?': checkSwitch }),
    MAX_BODY_ERRORS,
  ),
  'codes?': byWord(VENDOR_ERROR_KINDS, listed(checkCode, MAX_ENTRIES)),
  'statuses?': mapped(formed(/^[45]\d\d$/, 'a status from 400 to 599'), checkKind, MAX_ENTRIES),
  'messages?': byWord(VENDOR_ERROR_KINDS, listed(checkMessage, MAX_ENTRIES)),
  'retry_after?': checkPath,
});

/** The check of a file of this operation. Its schema is that of all operations. */
const shapeOf = (operation: VendorOperation): VendorCheck =>
  shaped({
    '$schema?': formed(/^[\x21-\x7e]{1,500}$/, 'where the schema of this file is'),
    id: formed(/^[a-z][a-z0-9-]{0,63}$/, 'lowercase letters, digits and hyphens'),
    protocol: eitherOf(['async-json']),
    'operation?': eitherOf(VENDOR_OPERATIONS),
    key_env: checkOf(checkVariable.schema, (value, at, faults) => {
      checkVariable(value, at, faults);
      if (typeof value === 'string' && isGatewayVariable(value))
        faults.push(`${at}: ${value} is a setting of the gateway`);
    }),
    base_url: checkBaseUrl,
    'origins?': listed(checkOrigin, MAX_ENTRIES),
    auth: checkAuth,
    'headers?': checkHeaders,
    submit: checkSubmit(operation),
    'lookup?': checkLookup,
    read: checkRead,
    result: checkResult,
    'cancel?': shaped({ method: checkMethod, 'path?': checkJobPath, 'given?': checkPath }),
    'delete?': shaped({ method: checkMethod, path: checkJobPath }),
    'errors?': checkErrors,
    'cost?': checkCost,
    'key_limits?': shaped({
      'requests_per_minute?': wholeUpTo(1_000_000),
      'concurrent?': wholeUpTo(100_000),
    }),
    'models?': checkModels(operation),
  });

const SHAPES = Object.fromEntries(
  VENDOR_OPERATIONS.map((operation) => [operation, shapeOf(operation)]),
) as Record<VendorOperation, VendorCheck>;

/** The JSON Schema of a file: it refuses what one field alone shows to be wrong. `vendors/vendor.schema.json` holds it. */
export const VENDOR_SCHEMA: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A vendor of videos, images or music (docs/guides/add-a-vendor.md)',
  ...SHAPES.video.schema,
  definitions: TEMPLATE_DEFINITIONS,
};

/** Everything that is wrong with the JSON of a vendor's file, each with its path; empty for a good one. */
export function vendorFaults(json: unknown): string[] {
  const faults: string[] = [];
  const told = isJsonObject(json) ? json.operation : undefined;
  const operation = VENDOR_OPERATIONS.find((one) => one === told) ?? 'video';
  SHAPES[operation](json, '', faults);
  return faults.length > 0 ? faults : crossFaults(json as VendorFile);
}
