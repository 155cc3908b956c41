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

/** The first URL at the first of the paths that has one; it is the vendor's, and may lead anywhere. */
export function urlAtPaths(json: unknown, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const value = valueAtPath(json, path);
    const [first] = Array.isArray(value) ? (value as unknown[]) : [value];
    if (typeof first !== 'string' || first.length > MAX_VENDOR_URL_CHARS) continue;
    if (/^https?:$/.test(parseUrl(first)?.protocol ?? '')) return first;
  }
  return undefined;
}
