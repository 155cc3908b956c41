import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { parseUrl } from '../../common/parse-url.js';
import { MAX_VENDOR_URL_CHARS } from './vendor-field-checks.js';

/** The value at a path of an answer; undefined where there is none. */
export function valueAtPath(json: unknown, path: string): unknown {
  let value: unknown = json;
  for (const name of path.split('.')) {
    const isHolder = isJsonObject(value) || Array.isArray(value);
    if (!isHolder || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** The text, the number or the boolean at the first of the paths that has one. */
export function wordAtPaths(json: unknown, paths: readonly string[] = []): string | null {
  for (const path of paths) {
    const value = valueAtPath(json, path);
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'boolean') return String(value);
    // A whole number beyond these has lost its last digits: it would be the id of another job.
    const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (typeof value === 'number' && isExact) return String(value);
  }
  return null;
}

/** The values at a path in which a `*` stands for each entry of a list; those of a list at its end are each a value. */
function valuesAtPath(json: unknown, path: string): unknown[] {
  const [head = '', ...tails] = path.split('.*');
  const listAt = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
  let values = [valueAtPath(json, head)];
  for (const tail of tails) {
    const within = tail.replace(/^\./, '');
    values = values
      .flatMap(listAt)
      .map((entry) => (within === '' ? entry : valueAtPath(entry, within)));
  }
  return values.flat();
}

/** The URLs at the first of the paths that has any; they are the vendor's, and may lead anywhere. */
export function urlsAtPaths(json: unknown, paths: readonly string[]): readonly string[] {
  for (const path of paths) {
    const urls = valuesAtPath(json, path).filter(isWebUrl);
    if (urls.length > 0) return urls;
  }
  return [];
}

const isWebUrl = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= MAX_VENDOR_URL_CHARS &&
  /^https?:$/.test(parseUrl(value)?.protocol ?? '');
