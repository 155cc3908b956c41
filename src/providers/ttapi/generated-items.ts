import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { isFailureWord } from '../http/job-state.js';
import { webUrl } from './ttapi-values.js';

/** Fields of a successful response in which vendors say that a part failed: the word, and the reason. */
const WORDS = ['status', 'state'];
const REASONS = ['error', 'error_type', 'error_message', 'error_code', 'errorMessage', 'errorCode'];

/**
 * The result of reading a response: values, `not_generated` if the response says that nothing was generated, or undefined if
 * it is not readable.
 */
export type ReadResult<T> = T | 'not_generated' | undefined;

/** Whether an item of a response says that it was not generated. */
export function saysFailed(item: JsonObject): boolean {
  const { metadata } = item;
  return (
    WORDS.some((name) => isFailureWord(item[name])) ||
    REASONS.some((name) => isReason(item[name])) ||
    (isJsonObject(metadata) && REASONS.some((name) => isReason(metadata[name])))
  );
}

/**
 * Whether the item has at least one of these fields, and all of them are empty: an empty text, null, or the URL of no
 * file.
 */
export function isEmptied(item: JsonObject, ...names: readonly string[]): boolean {
  const sent = names.filter((name) => Object.hasOwn(item, name));
  return sent.length > 0 && sent.every((name) => isNothing(item[name]));
}

/**
 * The values of the generated items. If there are none, `not_generated` if each item says so, by a word or by an empty
 * field.
 */
export function generatedOf<T>(
  items: readonly JsonObject[],
  fields: readonly string[],
  read: (item: JsonObject) => T | undefined,
): ReadResult<T[]> {
  const generated = items.flatMap((item) => (saysFailed(item) ? [] : (read(item) ?? [])));
  if (generated.length > 0) return generated;
  const allFailed = items.every((item) => saysFailed(item) || isEmptied(item, ...fields));
  return items.length > 0 && allFailed ? 'not_generated' : undefined;
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== 'string') return false;
  return value.trim() === '' || (/^https?:/i.test(value) && webUrl(value) === undefined);
}

function isReason(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return value === true || (isJsonObject(value) && Object.keys(value).length > 0);
}
