import type { JsonObject } from '../../common/json-object.js';
import { parseUrl } from '../../common/parse-url.js';

const MAX_TEXT = 20_000;
const MAX_URL = 8_192;
/** The end of a URL that a program built from a missing value: `None.mp3`. */
const NO_FILE = /\/(none|null|undefined|nan)(\.\w{1,5})?$/i;

/** The first of these fields that holds text of a reasonable length. */
export function textOf(json: JsonObject, ...names: readonly string[]): string | undefined {
  return first(json, names, (value) =>
    typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : undefined,
  );
}

/** The first of these fields that holds a number, also as text (`"211.44"`). */
export function numberOf(json: JsonObject, ...names: readonly string[]): number | undefined {
  return first(json, names, (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) && number >= 0
      ? number
      : undefined;
  });
}

/** The first of these fields that holds an id: a short text or a number. */
export function idOf(json: JsonObject, ...names: readonly string[]): string | undefined {
  return first(json, names, (value) => {
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && /^[\w.:-]{1,200}$/.test(text) ? text : undefined;
  });
}

/** The first of these fields that holds an http or https URL. */
export function urlOf(json: JsonObject, ...names: readonly string[]): string | undefined {
  return first(json, names, webUrl);
}

/** The value, if it is an http or https URL of a file. */
export function webUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_URL) return undefined;
  if (!/^https?:\/\//i.test(value)) return undefined;
  const url = parseUrl(value);
  return url && !NO_FILE.test(url.pathname) ? value : undefined;
}

function first<T>(
  json: JsonObject,
  names: readonly string[],
  read: (value: unknown) => T | undefined,
): T | undefined {
  for (const name of names) {
    const value = read(json[name]);
    if (value !== undefined) return value;
  }
  return undefined;
}
