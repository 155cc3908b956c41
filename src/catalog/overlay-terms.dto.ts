import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { Custom, Bool, Pattern, Text, Int } from '../common/validation/fields.js';

const MAX_NAME = 200;
const MAX_ENTRIES = 50;
/** Objects and lists in one another, as many as in a request. */
const MAX_DEPTH = 32;
const MAX_HEADER_CHARS = 2_000;
/** As long as a call may take in all by default. */
const MAX_TIMEOUT_MS = 3_600_000;
const FIELD = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const HEADER_VALUE = /^[\x20-\x7e]+$/;
const optional = { optional: true } as const;
const names = { max: MAX_NAME, ...optional, list: { min: 0, max: MAX_ENTRIES } } as const;
const map = { ...optional, api: { type: 'object', additionalProperties: true } } as const;

/** How the requests of a model differ from its protocol's habit. Which fields they may touch is checked with the row. */
export class OverlayTerms {
  @Pattern(FIELD, 'must be the name of a field', optional)
  length_parameter?: string;

  @Bool(optional)
  stream_usage?: boolean;

  @Custom(isRename, `must map at most ${MAX_ENTRIES} names of fields to new names`, map)
  rename?: Record<string, string>;

  @Text(names)
  drop?: string[];

  @Custom(isHeaders, `must map at most ${MAX_ENTRIES} names of headers to texts in ASCII`, map)
  headers?: Record<string, string>;

  @Bool(optional)
  send_traceparent?: boolean;

  @Custom(
    isConstants,
    `must hold at most ${MAX_ENTRIES} fields by name, with at most ${MAX_DEPTH} levels`,
    map,
  )
  constants?: JsonObject;

  @Int({ min: 1, max: MAX_TIMEOUT_MS, ...optional })
  timeout_ms?: number;

  @Text(names)
  pass_fields?: string[];
}

function isRename(value: unknown): boolean {
  return isMapOf(value, (name, to) => FIELD.test(name) && typeof to === 'string' && FIELD.test(to));
}

function isHeaders(value: unknown): boolean {
  return isMapOf(
    value,
    (name, text) =>
      HEADER_NAME.test(name) &&
      typeof text === 'string' &&
      text.length <= MAX_HEADER_CHARS &&
      HEADER_VALUE.test(text),
  );
}

function isConstants(value: unknown): boolean {
  return isMapOf(value, (name, entry) => FIELD.test(name) && fits(entry, MAX_DEPTH - 1));
}

/** Whether the value has at most so many levels of objects and lists. */
function fits(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => fits(inner, levels - 1));
}

function isMapOf(value: unknown, holds: (name: string, entry: unknown) => boolean): boolean {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= MAX_ENTRIES && entries.every(([name, entry]) => holds(name, entry));
}
