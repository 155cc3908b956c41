import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { isFailureWord } from '../http/job-state.js';
import { webUrl } from './ttapi-values.js';

/** Where vendors say, in an answer of success, that a part of it failed: the word, and the reason. */
const WORDS = ['status', 'state'];
const REASONS = ['error', 'error_type', 'error_message', 'error_code', 'errorMessage', 'errorCode'];

/** What a reader finds: values, that nothing was made, or nothing that it can read. */
export type Found<T> = T | 'not_made' | undefined;

/** Whether an item of an answer says that it was not made. */
export function saysFailed(item: JsonObject): boolean {
  const { metadata } = item;
  return (
    WORDS.some((name) => isFailureWord(item[name])) ||
    REASONS.some((name) => isReason(item[name])) ||
    (isJsonObject(metadata) && REASONS.some((name) => isReason(metadata[name])))
  );
}

/** Whether the item has one of these fields, and none of them is filled: an empty text, null, or a URL of no file. */
export function isEmptied(item: JsonObject, ...names: readonly string[]): boolean {
  const sent = names.filter((name) => Object.hasOwn(item, name));
  return sent.length > 0 && sent.every((name) => isNothing(item[name]));
}

/**
 * The values of the items that were made. Where none is left, `not_made` if each item says so, by a word or by an empty
 * field.
 */
export function madeOf<T>(
  items: readonly JsonObject[],
  fields: readonly string[],
  read: (item: JsonObject) => T | undefined,
): Found<T[]> {
  const made = items.flatMap((item) => (saysFailed(item) ? [] : (read(item) ?? [])));
  if (made.length > 0) return made;
  const isToldFailed = items.every((item) => saysFailed(item) || isEmptied(item, ...fields));
  return items.length > 0 && isToldFailed ? 'not_made' : undefined;
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
